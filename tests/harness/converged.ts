import { isDeepStrictEqual } from 'node:util';
import type { FakeApiServer, StoredObject } from '@sluice/fake-apiserver';
import type { VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import type { Settings } from '@sluice/service-state';
import { type EndpointLines, endpointsOf, slicesOf } from './expected-endpoints.ts';
import { startFleet } from './fleet.ts';
import { type ObservedWrite, observeWrites } from './observe-writes.ts';

/** Differences between the written objects and a full recomputation. */
export function differencesFromExpected(server: FakeApiServer): string[] {
  return [...differences('slices', slicesOf(server)), ...differences('Endpoints', endpointsOf(server))];
}

function differences(what: string, { expected, actual }: EndpointLines): string[] {
  const missing = expected.filter((line) => !actual.includes(line));
  const tooMany = actual.filter((line, i) => !expected.includes(line) || actual.indexOf(line) !== i);
  return [
    ...missing.map((line) => `${what}: missing ${line}`),
    ...tooMany.map((line) => `${what}: unexpected ${line}`),
  ];
}

export interface FreshStart {
  readonly clock: VirtualClock;
  readonly seed: number;
  readonly settings: Settings;
  readonly onRequest: () => void;
}

/**
 * The writes that a new Sluice with an empty store would still send.
 * Ignores what only a start does: deleting Endpoints without a Service (D4), and trigger times, which a restart loses
 * (C17), on objects that every decision rewrites (F4).
 */
export async function writesOfFreshStart(
  server: FakeApiServer,
  { clock, seed, settings, onRequest }: FreshStart,
): Promise<string[]> {
  const writes: ObservedWrite[] = [];
  const spied = observeWrites(server, (write) => writes.push(write), onRequest);
  const fresh = startFleet({ server: spied, clock, seed, settings });
  await advance(clock, 120_000);
  await fresh.stop();
  const services = new Set(server.list('services').items.map(({ metadata }) => metadata.name));
  return writes
    .filter(({ verb, resource, name }) => !(verb === 'delete' && resource === 'endpoints' && !services.has(name)))
    .filter(({ verb, before, after }) => verb === 'delete' || !isDeepStrictEqual(content(before), content(after)))
    .map(({ verb, resource, name }) => `a fresh start would still ${verb} ${resource} ${name}`);
}

/** Not as JSON: Sluice and users write the same fields in different orders. */
function content(object: StoredObject | undefined): object | undefined {
  if (object === undefined) return undefined;
  const { resourceVersion: _version, annotations = {}, ...metadata } = object.metadata;
  const { 'endpoints.kubernetes.io/last-change-trigger-time': _time, ...others } = annotations;
  return { ...object, metadata: { ...metadata, annotations: others } };
}
