import { FakeApiServer, FakeClient, FaultPlan } from '@sluice/fake-apiserver';
import { Reflector, watchedResources, wholeObject } from '@sluice/kubernetes';
import { randomInteger, seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { describe, expect, it } from 'vitest';
import { ClusterSimulator } from './simulator/cluster-simulator.ts';

/** Runs everything that does not wait for a timer. */
const flush = () => new Promise<void>((resolve) => setImmediate(resolve));

interface Versioned {
  readonly metadata: { readonly namespace?: string; readonly name: string; readonly resourceVersion: string };
}

const versionOf = (object: unknown) => {
  const { metadata } = object as Versioned;
  return [`${metadata.namespace ?? ''}/${metadata.name}`, metadata.resourceVersion] as const;
};

describe('Reflector', () => {
  it.each([1, 2, 3])('converges to the state of the API server despite faults (seed %i)', async (seed) => {
    const clock = new VirtualClock(Date.parse('2026-05-01T10:00:00Z'));
    const server = new FakeApiServer({ clock, random: seededRandom(1), eventWindow: 40 });
    const random = seededRandom(seed);
    const faults = new FaultPlan(
      [
        { error: 'unavailable', probability: 0.1 },
        { error: 'reset', probability: 0.1 },
        { error: 'tooManyRequests', probability: 0.05 },
        { latencyMs: 300, probability: 0.3 },
      ],
      random,
    );
    const cluster = new FakeClient(server, { clock, faults });
    const simulator = new ClusterSimulator({ api: server, clock, random: seededRandom(seed), rate: 20 });
    simulator.start();
    const stop = new AbortController();
    const ports = { cluster, clock, random, logger: silentLogger, decode: wholeObject, pageSize: 10 };
    const reflected = new Map(watchedResources.map((resource) => [resource, new Map<string, string>()]));
    const running = watchedResources.map((resource) => {
      const objects = reflected.get(resource) ?? new Map();
      const sink = {
        replace(all: readonly unknown[]) {
          objects.clear();
          for (const object of all) objects.set(...versionOf(object));
        },
        apply(events: readonly { readonly type: string; readonly object?: unknown }[]) {
          for (const { type, object } of events) {
            if (object === undefined) continue;
            const [key, version] = versionOf(object);
            if (type === 'DELETED') objects.delete(key);
            else objects.set(key, version);
          }
        },
      };
      return new Reflector({ ...ports, resource, sink, watchList: seed === 3 }).run(stop.signal);
    });
    const run = async (seconds: number, withFaults: boolean) => {
      for (const until = clock.now() + seconds * 1000; clock.step(until); ) {
        await flush();
        const dice = withFaults ? randomInteger(random, 0, 200) : -1;
        if (dice === 0) server.cutWatches('reset');
        if (dice === 1) server.cutWatches('end');
        if (dice === 2) server.compact();
      }
    };
    await run(60, true);
    simulator.pause();
    faults.clear();
    await run(120, false);
    for (const [resource, objects] of reflected) {
      const stored = new Map(server.list(resource).items.map(versionOf));
      expect([...objects].sort(), `seed ${seed}: ${resource}`).toEqual([...stored].sort());
    }
    simulator.stop();
    stop.abort();
    await Promise.all(running);
  });
});
