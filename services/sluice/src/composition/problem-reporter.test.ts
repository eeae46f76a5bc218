import { History } from '@sluice/console';
import { ClusterLog, endpoint, served } from '@sluice/logical-services/testing';
import { VirtualClock } from '@sluice/platform';
import { advance, recordingLogger } from '@sluice/platform/testing';
import type { Recording } from '@sluice/recording';
import { Metrics } from '@sluice/telemetry';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ProblemReporter } from './problem-reporter.ts';
import type { Notify } from './problem-webhook.ts';
import { backgroundIndex } from './telemetry/report-logical-services.ts';

type Problems = Awaited<ReturnType<Recording['problems']>>['problems'];

let clock: VirtualClock;
let logger: ReturnType<typeof recordingLogger>;
let metrics: Metrics;
let problems: Problems | Error;
let reporter: ProblemReporter;

const recording = {
  problems: async () => {
    if (problems instanceof Error) throw problems;
    return { problems, unreadable: [] };
  },
  managerChanges: async () => ({ services: [], unreadable: [] }),
  propagations: async () => ({ propagations: [], unreadable: [] }),
  readinessChanges: async () => ({ pods: [], unreadable: [] }),
};

const out = (key: string, reason: Problems[number]['reason'] = 'NoReadyEndpoints'): Problems[number] => ({
  ...{ key, reason, message: '1 Pod: 1 not ready', from: -1_000_000 },
  ...{ to: null, isStartKnown: true, event: null },
});

beforeEach(() => {
  clock = new VirtualClock(100_000);
  logger = recordingLogger();
  metrics = new Metrics({ clusters: new Map([['c', 'prod']]), process: false });
  problems = [];
  reporter = new ProblemReporter({ names: new Map(), recording, clock, logger, metrics });
});

afterEach(() => reporter.close());

const check = () => advance(clock, 10_000);
const lines = () => logger.lines.map(({ level, message, fields }) => [level, message, fields]);

test('a problem is logged when it begins and when it ends, and counted while it lasts', async () => {
  problems = [out('c/shop/web'), out('c/shop/db')];
  await check();
  await check();
  const web = { cluster: 'c', service: 'shop/web', reason: 'NoReadyEndpoints' };
  expect(lines()).toHaveLength(2);
  expect(lines()[0]).toEqual([
    ...['warn', 'problem began'],
    { ...web, message: '1 Pod: 1 not ready', since: '1969-12-31T23:43:20.000Z' },
  ]);
  expect(await metrics.text()).toMatch(
    /sluice_service_problems\{.*reason="NoReadyEndpoints",severity="critical".*\} 2/,
  );
  problems = [out('c/shop/db')];
  await check();
  expect(lines().slice(2)).toEqual([['info', 'problem ended', web]]);
  expect(await metrics.text()).toMatch(/sluice_service_problems\{.*\} 1/);
  problems = [];
  await check();
  expect(await metrics.text()).not.toMatch(/sluice_service_problems\{/);
});

test('a recording that does not answer is logged once, and the next answer counts', async () => {
  problems = new Error('the thread has ended');
  await check();
  await check();
  expect(lines()).toEqual([
    ['warn', 'problems not checked; the recording does not answer', { reason: 'the thread has ended' }],
  ]);
  problems = [out('c/shop/web')];
  await check();
  expect(lines()).toHaveLength(2);
});

test('nothing is asked or exposed after it was closed', async () => {
  problems = [out('c/shop/web')];
  await check();
  reporter.close();
  problems = [];
  await check();
  expect(lines()).toHaveLength(1);
  expect(await metrics.text()).not.toMatch(/sluice_service_problems\{/);
});

test('what began and ended since the last message that was received is sent', async () => {
  reporter.close();
  const sent: (readonly [readonly string[], readonly string[]])[] = [];
  let failure: Error | undefined;
  const notify: Notify = async ({ started, ended }) => {
    if (failure !== undefined) throw failure;
    sent.push([started.map(({ key }) => key), ended.map(({ key }) => key)]);
  };
  reporter = new ProblemReporter({ names: new Map(), recording, clock, logger, notify });
  await check();
  expect(sent).toEqual([]);
  problems = [out('c/shop/web')];
  await check();
  await check();
  expect(sent).toEqual([[['c/shop/web'], []]]);
  failure = new Error('HTTP status 500');
  problems = [out('c/shop/db')];
  await check();
  await check();
  expect(lines().filter(([, message]) => message === 'problems not sent to the webhook')).toEqual([
    ['warn', 'problems not sent to the webhook', { reason: 'HTTP status 500' }],
  ]);
  failure = undefined;
  await check();
  expect(sent.slice(1)).toEqual([[['c/shop/db'], ['c/shop/web']]]);
});

test('an info is logged and counted, and not sent', async () => {
  reporter.close();
  const sent: (readonly [number, number])[] = [];
  const notify: Notify = async ({ started, ended }) => void sent.push([started.length, ended.length]);
  reporter = new ProblemReporter({ names: new Map(), recording, clock, logger, metrics, notify });
  problems = [out('c/shop/web', 'ScaledToZero')];
  await check();
  expect(lines()).toMatchObject([['info', 'problem began', { reason: 'ScaledToZero' }]]);
  expect(await metrics.text()).toMatch(/sluice_service_problems\{.*severity="info".*\} 1/);
  problems = [];
  await check();
  expect(sent).toEqual([]);
});

test('rules decide how a problem counts', async () => {
  reporter.close();
  const rules = [{ reason: 'NoReadyEndpoints', namespaces: ['dev'], severity: 'info' }] as const;
  const sent: unknown[] = [];
  const notify: Notify = async ({ started }) => void sent.push(...started.map(({ key, severity }) => [key, severity]));
  reporter = new ProblemReporter({ names: new Map(), recording, clock, logger, metrics, rules, notify });
  problems = [out('c/shop/web'), out('c/dev/web')];
  await check();
  expect(lines().map(([level]) => level)).toEqual(['warn', 'info']);
  expect(await metrics.text()).toMatch(/severity="critical".*\} 1\n.*severity="info".*\} 1/);
  expect(sent).toEqual([['c/shop/web', 'critical']]);
});

test('a Service over all clusters and a lost cluster are reported as well', async () => {
  reporter.close();
  const history = new History({ clock });
  for (const name of ['east', 'west']) {
    const log = new ClusterLog(name);
    log.snapshot('web', served([endpoint('a', false)]));
    for (const { key, message } of log.records) history.logicalServices.apply(key, message, 0);
  }
  const outage = { since: -1_000_000, reason: 'timeout' };
  const views = [
    { identity: 'east', name: 'east', version: '', server: '', state: 'watched' },
    { identity: 'west', name: 'west', version: '', server: '', state: 'not answering', outage },
  ];
  const policy = { action: 'keep', maxAgeMs: 0 } as const;
  const observed = { history, sources: { clusters: () => views }, policy, index: backgroundIndex(clock) };
  reporter = new ProblemReporter({ names: new Map(), recording, clock, logger, metrics, observed });
  clock.step(200_000);
  await check();
  expect(lines().map(([level, , fields]) => [level, fields])).toMatchObject([
    ['warn', { cluster: '*', service: 'shop/web', reason: 'NotServed' }],
    ['warn', { cluster: 'west', reason: 'LostCluster', message: 'not answering (timeout)' }],
  ]);
  expect(await metrics.text()).toMatch(/sluice_service_problems\{.*reason="NotServed",severity="critical".*\} 1/);
});
