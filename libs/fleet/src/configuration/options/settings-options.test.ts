import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { toSettings } from '../configuration.ts';
import { resolve } from '../testing/resolve.ts';
import { addFlags, configurationSources } from './add-flags.ts';

function parse(...args: string[]) {
  const errors: string[] = [];
  const command = addFlags(new Command('run'), 'Controllers:', 'controllers')
    .exitOverride()
    .configureOutput({ writeErr: (text) => errors.push(text) });
  try {
    command.parse(args, { from: 'user' });
  } catch {
    return { error: errors.join('').trim() };
  }
  const { flags } = configurationSources(command, {}, () => {});
  return { settings: toSettings(resolve({ flags }).configuration.controllers) };
}

const controllers = (list: string) => [...(parse('--controllers', list).settings?.controllers ?? [])].sort();

test('the defaults are those of kube-controller-manager (A5)', () => {
  expect(parse().settings).toMatchObject({
    controllers: new Set(['endpoints', 'endpointslice', 'endpointslicemirroring']),
    maxEndpointsPerSlice: 100,
    maxEndpointsPerSubset: 1000,
    batchPeriodMs: {},
  });
});

test('each flag sets its setting (A5)', () => {
  const { settings } = parse(
    ...['--max-endpoints-per-slice', '7', '--mirroring-max-endpoints-per-subset', '8'],
    ...['--endpoint-updates-batch-period', '1s', '--endpointslice-updates-batch-period', '2s'],
    ...['--mirroring-endpointslice-updates-batch-period', '500ms'],
  );
  expect(settings).toMatchObject({
    maxEndpointsPerSlice: 7,
    maxEndpointsPerSubset: 8,
    batchPeriodMs: { endpoints: 1_000, endpointslice: 2_000, endpointslicemirroring: 500 },
  });
});

describe.each(['max-endpoints-per-slice', 'mirroring-max-endpoints-per-subset'])('--%s (A5)', (flag) => {
  test.each(['1', '1000'])('accepts %s', (n) => {
    expect(parse(`--${flag}`, n)).toHaveProperty('settings');
  });

  test.each([
    ['0', `${flag} must not be less than 1, but got 0`],
    ['-5', `${flag} must not be less than 1, but got -5`],
    ['1001', `${flag} must not be more than 1000, but got 1001`],
    ['many', '"many" is not an integer'],
    ['1.5', '"1.5" is not an integer'],
  ])('rejects %s', (n, text) => {
    expect(parse(`--${flag}=${n}`).error).toContain(text);
  });
});

describe('--controllers (A2)', () => {
  test.each([
    ['*', ['endpoints', 'endpointslice', 'endpointslicemirroring']],
    ['endpoints-controller', ['endpoints']],
    ['endpoint', ['endpoints']],
    ['endpointslice-controller,endpointslicemirroring', ['endpointslice', 'endpointslicemirroring']],
    ['*,-endpoints-controller', ['endpointslice', 'endpointslicemirroring']],
    ['-endpoints-controller,*', ['endpointslice', 'endpointslicemirroring']],
    ['-endpoints-controller', ['endpointslice', 'endpointslicemirroring']],
    ['-endpoint,-endpointslice', ['endpointslicemirroring']],
    ['endpoint,-endpointslice', ['endpoints']],
    ['endpoint,-endpoint', ['endpoints']],
    ['-endpoint,endpoint', []],
    [' endpoint , endpointslice ', ['endpoints', 'endpointslice']],
  ])('%s', (list, expected) => {
    expect(controllers(list)).toEqual(expected);
  });

  test.each(['', 'nodes', '-nodes', 'endpoint,nodes', '**'])('rejects %j and lists the known controllers', (list) => {
    expect(parse(`--controllers=${list}`).error).toMatch(
      /is not in the list of known controllers: endpoints-controller, endpointslice-controller, endpointslice-mirroring-controller/,
    );
  });
});

test('an invalid batch period is rejected with an example', () => {
  expect(parse('--endpoint-updates-batch-period', '5').error).toContain(
    '"5" is not a duration; expected for example 20s',
  );
});
