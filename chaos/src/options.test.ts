import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { commandOf, parseOptions } from './options.ts';

const checkout = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');

const parse = (...args: string[]) => {
  const options = parseOptions(args, () => 77);
  if (options === 'help') throw new Error('help');
  return options;
};

describe('options of chaos', () => {
  test('have defaults and a random seed', () => {
    expect(parse()).toEqual({
      actions: 50,
      freezesOnly: false,
      seed: 77,
      bus: 'nats',
      processes: 'roles',
      clusters: 2,
      natsNodes: 1,
      sentinel: false,
      rate: 50,
      partitions: 16,
      pauseMs: 1_500,
      upgradeFrom: undefined,
      output: 'table',
      directory: undefined,
    });
  });

  test('support freezes only', () => {
    expect(parse('--freezes', '100', '--seed', '3')).toMatchObject({
      actions: 100,
      freezesOnly: true,
      seed: 3,
      pauseMs: 2_750,
    });
  });

  test('help', () => {
    expect(parseOptions(['--help'], () => 1)).toBe('help');
  });

  test.each([
    [['--actions', '0'], '--actions: "0"'],
    [['--seed', 'x'], '--seed: "x"'],
    [['--bus', 'rabbit'], '--bus: "rabbit" is none of nats, kafka'],
    [['--processes', 'threads'], '--processes: "threads" is none of roles, workers, mixed'],
    [['--nats-nodes', '2'], '--nats-nodes: "2" is none of 1, 3'],
    [['--bus', 'kafka', '--nats-nodes', '3'], '--nats-nodes requires --bus nats'],
    [['--clusters', '0'], '--clusters: "0"'],
    [['--upgrade-from', '/nowhere'], '/nowhere/services/sluice/src/main.ts does not exist'],
    [['--output', 'xml'], '--output: "xml"'],
    [['--actions', '1', '--freezes', '1'], 'mutually exclusive'],
    [['--wild'], '--wild'],
  ])('%j is rejected', (args, message) => {
    expect(() => parse(...args)).toThrow(message);
  });

  test.each([
    [['--actions', '9', '--seed', '2'], 'npm run chaos -- --actions 9 --seed 2'],
    [
      ['--actions', '9', '--clusters', '3', '--nats-nodes', '3', '--sentinel'],
      'npm run chaos -- --actions 9 --seed 77 --clusters 3 --nats-nodes 3 --sentinel',
    ],
    [
      ['--freezes', '9', '--bus', 'kafka', '--rate', '20', '--partitions', '4', '--pause', '9'],
      'npm run chaos -- --freezes 9 --seed 77 --bus kafka --rate 20 --partitions 4 --pause 9',
    ],
    [['--actions', '9', '--processes', 'mixed'], 'npm run chaos -- --actions 9 --seed 77 --processes mixed'],
    [
      ['--actions', '9', '--upgrade-from', checkout],
      `npm run chaos -- --actions 9 --seed 77 --upgrade-from ${checkout}`,
    ],
  ])('%j can be repeated', (args, command) => {
    expect(commandOf(parse(...args))).toBe(command);
    expect(parse(...command.split(' ').slice(4))).toEqual(parse(...args));
  });
});
