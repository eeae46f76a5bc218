import { isUsageError } from '@sluice/platform/process';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addLeaderElectionOptions, type LeaderElectionOptions, toLeaderElection } from './leader-election-options.ts';

function parse(...args: string[]) {
  const command = addLeaderElectionOptions(new Command('run')).exitOverride();
  command.parse(args, { from: 'user' });
  return command.opts<LeaderElectionOptions>();
}

test('without --leader-elect there is no election', () => {
  expect(toLeaderElection(parse())).toBeUndefined();
});

test('the durations default to those of kube-controller-manager', () => {
  expect(toLeaderElection(parse('--leader-elect'))).toEqual({
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2_000,
    resourceName: 'sluice-leader',
    resourceNamespace: 'kube-system',
  });
});

test('each flag sets its setting', () => {
  const options = parse(
    ...['--leader-elect', '--leader-elect-lease-duration', '1m', '--leader-elect-renew-deadline', '40s'],
    ...['--leader-elect-retry-period', '500ms', '--leader-elect-resource-name', 'a.b'],
    ...['--leader-elect-resource-namespace', 'sluice'],
  );
  expect(toLeaderElection(options)).toEqual({
    ...{ leaseDurationMs: 60_000, renewDeadlineMs: 40_000, retryPeriodMs: 500 },
    ...{ resourceName: 'a.b', resourceNamespace: 'sluice' },
  });
});

test('an instance for listed namespaces has a Lease of its own', () => {
  const options = { ...parse('--leader-elect'), namespaces: ['kube-system'] };
  expect(toLeaderElection(options)?.resourceName).toBe('sluice-namespaces-leader');
});

test.each([
  [['--leader-elect-retry-period', '1s'], 'require --leader-elect'],
  [['--leader-elect', '--leader-elect-lease-duration', '1500ms'], 'whole seconds'],
  [['--leader-elect', '--leader-elect-lease-duration', '0s'], 'at least 1s'],
  [['--leader-elect', '--leader-elect-renew-deadline', '15s'], 'lease-duration must be greater than'],
  [['--leader-elect', '--leader-elect-retry-period', '9s'], 'renew-deadline must be greater than'],
  [['--leader-elect', '--leader-elect-retry-period', '0s'], 'retry-period must be greater than 0'],
  [['--leader-elect', '--leader-elect-resource-name', 'Sluice'], '--leader-elect-resource-name "Sluice" is not'],
  [['--leader-elect', '--leader-elect-resource-namespace', 'a/b'], '--leader-elect-resource-namespace "a/b" is not'],
])('%j is refused', (args, message) => {
  const refused = () => toLeaderElection(parse(...args));
  expect(refused).toThrow(message);
  expect(refused).toThrow(expect.toSatisfy(isUsageError));
});
