import type { Mutation } from '@sluice/model';
import { beforeEach, expect, test } from 'vitest';
import type { Applied } from './display.ts';
import { anApplied } from './testing/applied.ts';
import { WrittenEndpoints } from './written-endpoints.ts';

const none = { ok: 0, rolling: 0, degraded: 0, empty: 0, ready: 0, notReady: 0 };
let written: WrittenEndpoints;

beforeEach(() => {
  written = new WrittenEndpoints({ afterMs: 60_000, below: 0.5 });
});

function add(service: string, mutation: Mutation, status: 'applied' | 'failed' = 'applied'): Applied {
  const { cluster, plan, outcome, latencyMs } = anApplied({ service, slices: [] });
  const name = mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name;
  const result = { group: 0, index: 0, verb: mutation.verb, resource: mutation.resource, name, status };
  const applied = {
    ...{ cluster, latencyMs, plan: { ...plan, groups: [{ mutations: [mutation] }] } },
    outcome: { ...outcome, results: [result] },
  };
  written.add(applied);
  return applied;
}

/** `+`: ready, `-`: not ready, `t`: terminating. */
const slice = (name: string, states: string): Mutation => ({
  ...{ verb: 'create', resource: 'endpointslices' },
  object: {
    ...{ metadata: { name, namespace: 'shop' }, addressType: 'IPv4' },
    endpoints: [...states].map((state) => ({
      addresses: ['10.1.0.1'],
      conditions: { ready: state === '+', terminating: state === 't' },
    })),
  },
});

const deletion = (resource: 'endpoints' | 'endpointslices', name: string): Mutation => ({
  ...{ verb: 'delete', resource, name },
});

const { completedAt } = anApplied().outcome;

test.each([
  ['++', 0, { ok: 1, ready: 2 }],
  ['+tt', 0, { ok: 1, ready: 1 }],
  ['+-', 59_999, { rolling: 1, ready: 1, notReady: 1 }],
  ['+-', 60_000, { degraded: 1, ready: 1, notReady: 1 }],
  ['+--', 0, { degraded: 1, ready: 1, notReady: 2 }],
  ['--', 0, { empty: 1, notReady: 2 }],
  ['', 0, { empty: 1 }],
])('a Service with endpoints %j after %i ms', (states, after, expected) => {
  add('web', slice('web-a', states));
  expect(written.totals(completedAt + after)).toEqual({ ...none, ...expected });
});

test('slices of a Service count together, in their last state', () => {
  add('web', slice('web-a', '--'));
  add('web', slice('web-b', '+'));
  expect(written.of(add('web', slice('web-a', '++')))).toEqual({ ready: 3, notReady: 0 });
  expect(written.of(add('web', deletion('endpointslices', 'web-b')))).toEqual({ ready: 2, notReady: 0 });
  expect(written.totals(completedAt)).toEqual({ ...none, ok: 1, ready: 2 });
});

test('a write that failed does not count', () => {
  add('web', slice('web-a', '+'), 'failed');
  expect(written.totals(completedAt)).toEqual(none);
});

test('a Service is forgotten when its Endpoints are deleted', () => {
  add('web', slice('web-a', '+'));
  add('web', deletion('endpoints', 'web'));
  expect(written.totals(completedAt)).toEqual(none);
});
