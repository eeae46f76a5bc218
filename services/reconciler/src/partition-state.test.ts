import { formatServiceKey } from '@sluice/messages';
import { seededRandom, VirtualClock } from '@sluice/runtime';
import { defaultSettings, evolve } from '@sluice/service-state';
import { aService, aSnapshot, fact, key, keyText } from '@sluice/service-state/testing';
import type { StoredEntry } from '@sluice/store';
import { beforeEach, expect, test } from 'vitest';
import { PartitionState } from './partition-state.ts';

const ports = { clock: new VirtualClock(1_000_000), random: seededRandom(1) };
const service = { kind: 'service', service: aService() } as const;
let dropped: string[];
let state: PartitionState;

beforeEach(() => {
  dropped = [];
  state = new PartitionState(ports, (name) => dropped.push(name));
});

/** What a store holds after the entries, in their order. */
function stored(...commits: readonly (readonly StoredEntry[])[]): Map<string, unknown> {
  const values = new Map<string, unknown>();
  for (const { key: of, field, value } of commits.flat()) {
    if (value === undefined) values.delete(`${of} ${field}`);
    else values.set(`${of} ${field}`, value);
  }
  return values;
}

function receive(sequence: number, ...pods: readonly string[]): void {
  const change = aSnapshot(sequence, [service, ...pods.map((name) => fact.pod(name))]);
  evolve(state.service(keyText), change, 1_000_000, defaultSettings);
}

test('a Service that is dropped and comes back before the next commit is stored as it is then', () => {
  receive(1, 'p', 'q');
  const before = state.drainChanges([keyText]);
  state.removeCluster(key.cluster);
  expect(dropped).toEqual([formatServiceKey(key)]);
  receive(2, 'p');

  const after = stored(before, state.drainChanges([keyText]));

  const other = new PartitionState(ports, () => {});
  receive(3, 'p');
  const names = [...after.keys()].filter((name) => name.startsWith(keyText));
  expect(names).toContain(`${keyText} service`);
  expect(names.filter((name) => name.includes('pod/'))).toEqual([`${keyText} pod/p`]);
  expect(other.load([...entriesOf(after)], () => expect.unreachable('unreadable'))).toBe(true);
  expect([...(other.services.get(keyText)?.pods.keys() ?? [])]).toEqual(['p']);
});

function* entriesOf(values: ReadonlyMap<string, unknown>): Iterable<StoredEntry> {
  for (const [name, value] of values) {
    const [of = '', field = ''] = name.split(' ');
    yield { key: of, field, value };
  }
}
