import type { HistoryEntry } from '@sluice/console/client';
import { expect, test } from 'vitest';
import { compare } from './compare.ts';

const state = (ready: boolean) => ({ ready, serving: ready, terminating: false, zone: '', hints: [] });
const cause = (pod: string, at: number) => ({ description: `Pod bench-1/${pod} became ready`, observedAt: at });

function event(pod: string, at: number, text = 'became not ready (ContainersNotReady)'): HistoryEntry {
  return {
    ...{ kind: 'observed', at, causes: { first: [cause(pod, at)], more: 0 } },
    observations: [{ of: 'pod', name: pod, text }],
  };
}

function write(
  of: 'slice' | 'endpoints',
  at: number,
  pods: readonly string[],
  causes: readonly [string, number][],
): HistoryEntry {
  const endpoints =
    of === 'endpoints'
      ? []
      : pods.map((pod) => ({
          ...{ type: 'changed' as const, pod, addresses: [], slice: 's', before: state(true), after: state(false) },
        }));
  const [first] = causes;
  const found = { first: causes.map(([pod, since]) => cause(pod, since)), more: 0 };
  const latencyMs = first === undefined ? null : at - first[1];
  return {
    ...{ kind: 'observed', at, causes: { first: [{ description: 'EndpointSlice changed', observedAt: at }], more: 0 } },
    observations: [
      {
        ...{ of, name: 's', text: 'was modified' },
        write: { verb: 'update', manager: 'kcm', causes: found, inferredFrom: 'content', latencyMs, endpoints },
      },
    ],
  };
}

const flips = [
  { service: 's', pod: 'a', ready: false },
  { service: 's', pod: 'b', ready: false },
];

test('a write is correct if it names the event of each Pod that it changes', () => {
  const entries = [
    ...[event('a', 10), event('b', 11), event('a', 12, 'has container app: waiting')],
    write(
      'slice',
      15,
      ['a', 'b'],
      [
        ['a', 10],
        ['b', 11],
      ],
    ),
    write('endpoints', 16, [], [['a', 10]]),
  ];
  expect(compare(entries, flips)).toEqual({
    ...{ slices: { correct: 1, total: 1 }, endpoints: { correct: 1, total: 2 }, latenciesMs: [5] },
  });
});

test.each<[string, readonly [string, number][]]>([
  [
    'names another event',
    [
      ['a', 10],
      ['b', 10],
    ],
  ],
  ['lacks a cause', [['a', 10]]],
  ['has no cause', []],
])('a write that %s is wrong', (_, causes) => {
  const entries = [event('a', 10), event('b', 11), write('slice', 15, ['a', 'b'], causes)];
  expect(compare(entries, flips).slices).toEqual({ correct: 0, total: 1 });
});

test('a second change has the second event', () => {
  const twice = [...flips.slice(0, 1), { service: 's', pod: 'a', ready: true }];
  const first = [event('a', 10), write('slice', 12, ['a'], [['a', 10]]), event('a', 20, 'became ready')];
  expect(compare([...first, write('slice', 22, ['a'], [['a', 20]])], twice).slices).toEqual({ correct: 2, total: 2 });
  expect(compare([...first, write('slice', 22, ['a'], [['a', 10]])], twice).slices).toEqual({ correct: 1, total: 2 });
});

test('a change that no write shows counts as wrong', () => {
  expect(compare([event('a', 10), write('slice', 12, ['a'], [['a', 10]])], flips).slices).toEqual({
    correct: 1,
    total: 2,
  });
  expect(compare([], flips)).toMatchObject({ slices: { correct: 0, total: 2 }, endpoints: { correct: 0, total: 2 } });
});
