import type { FakeApiServer, StoredObject } from '@sluice/fake-apiserver';
import type { VirtualClock } from '@sluice/runtime';
import { advance } from '@sluice/runtime/testing';
import type { Settings } from '@sluice/service-state';
import { startFleet } from './fleet.ts';
import { type SpiedWrite, spiedServer } from './spied-server.ts';
import { type Endpoints, endpointsOf, slicesOf } from './what-should-be.ts';

/** Where what is written differs from a full recomputation. */
export function whatIsWrong(server: FakeApiServer): string[] {
  return [...differences('slices', slicesOf(server)), ...differences('Endpoints', endpointsOf(server))];
}

function differences(what: string, { expected, actual }: Endpoints): string[] {
  const missing = expected.filter((line) => !actual.includes(line));
  const tooMany = actual.filter((line, i) => !expected.includes(line) || actual.indexOf(line) !== i);
  return [...missing.map((line) => `${what}: missing ${line}`), ...tooMany.map((line) => `${what}: too many ${line}`)];
}

export interface FreshStart {
  readonly clock: VirtualClock;
  readonly seed: number;
  readonly settings: Settings;
  readonly onRequest: () => void;
}

/**
 * What Sluice with empty hands would still write.
 *
 * D4: only a start sweeps Endpoints that were there before their Service, or whose Service nobody saw. C17: the trigger
 * times are forgotten at a restart; so what is rewritten at every decision (F4) loses or gains that annotation.
 */
export async function whatAFreshStartWrites(
  server: FakeApiServer,
  { clock, seed, settings, onRequest }: FreshStart,
): Promise<string[]> {
  const writes: SpiedWrite[] = [];
  const spied = spiedServer(server, (write) => writes.push(write), onRequest);
  const fresh = startFleet({ server: spied, clock, seed, settings });
  await advance(clock, 120_000);
  await fresh.stop();
  const services = new Set(server.list('services').items.map(({ metadata }) => metadata.name));
  return writes
    .filter(({ verb, resource, name }) => !(verb === 'delete' && resource === 'endpoints' && !services.has(name)))
    .filter(({ verb, before, after }) => verb === 'delete' || content(before) !== content(after))
    .map(({ verb, resource, name }) => `a fresh start would still ${verb} ${resource} ${name}`);
}

function content(object: StoredObject | undefined): string {
  if (object === undefined) return 'nothing';
  const { resourceVersion: _version, annotations = {}, ...metadata } = object.metadata;
  const { 'endpoints.kubernetes.io/last-change-trigger-time': _time, ...others } = annotations;
  return JSON.stringify({ ...object, metadata: { ...metadata, annotations: others } });
}
