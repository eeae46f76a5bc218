import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tapBus } from '@sluice/console';
import { FakeApiServer } from '@sluice/fake-apiserver';
import {
  type EndpointSlice,
  managedByLabel,
  projectEndpointSlice,
  projectEndpoints,
  projectPod,
  projectService,
} from '@sluice/model';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { type ObjectChange, Playback, RecordConverter, RecordingDirectory, RecordingReader } from '@sluice/recording';
import { expect, onTestFinished, test } from 'vitest';
import { startFleet } from './harness/fleet.ts';
import { RandomUser } from './harness/random-user.ts';

let written = 0;

/** Objects by resource, namespace and name, in the form that can be compared. */
function show(objects: Map<string, unknown>, changes: readonly ObjectChange[]): Map<string, unknown> {
  for (const { resource, namespace, name, object } of changes) {
    const id = `${resource}/${namespace}/${name}`;
    if (object === null) objects.delete(id);
    else objects.set(id, object);
  }
  return objects;
}

/** Those of other managers are not watched. */
const isManaged = ({ metadata }: EndpointSlice) => metadata.labels?.[managedByLabel]?.endsWith('-controller.k8s.io');

/** What the controllers read of the objects of Services with a selector, from a server or a recording. */
function contents(of: (resource: 'endpoints' | 'endpointslices' | 'pods' | 'services') => readonly unknown[]) {
  const services = of('services').map(projectService);
  const selects = (labels: Readonly<Record<string, string>>) =>
    services.some(({ selector }) => selector !== null && Object.entries(selector).every(([k, v]) => labels[k] === v));
  const pods = of('pods').map(projectPod);
  const withoutVersion = <T extends { readonly metadata: object }>(object: T) => ({
    ...object,
    metadata: { generation: 0, ...object.metadata, resourceVersion: undefined },
  });
  return {
    services: services.map(({ annotations: _, ...service }) => service),
    pods: pods.filter(({ labels }) => selects(labels)).map(({ pod }) => pod),
    endpoints: of('endpoints').map(projectEndpoints).map(withoutVersion),
    slices: of('endpointslices')
      .map(projectEndpointSlice)
      .filter(isManaged)
      .map((slice) => ({ ...withoutVersion(slice), ports: slice.ports ?? [] })),
  };
}

test.each(Array.from({ length: 40 }, (_, index) => index + 1))(
  'a recording of Sluice itself shows the cluster, in which each Pod ends up as it should appear: seed %d',
  async (seed) => {
    const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
    const server = new FakeApiServer({ clock, random: seededRandom(seed + 1), bookmarkIntervalMs: 60_000 });
    server.create('namespaces', { metadata: { name: 'shop' } });
    const user = new RandomUser(server, seededRandom(seed + 2), clock);
    const converter = new RecordConverter({
      ...silentLogger,
      error: (_, fields) => expect.unreachable(String(fields?.error)),
    });
    const ends: (string | null)[] = [];
    const directory = mkdtempSync(join(tmpdir(), 'sluice-recorded-run-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const limits = { maxBytes: 1024 ** 3, retentionMs: 1e12, minFreeBytes: 0 };
    const recording = new RecordingDirectory(directory, { version: '1', limits });
    const records: Parameters<RecordingDirectory['append']>[0][number][] = [];
    const middle = clock.now() + 60_000;
    const recorder: Parameters<typeof tapBus>[2] = {
      add(topic, record) {
        const converted = converter.convert(topic, record, clock.now());
        if (converted === undefined) return;
        records.push(converted);
        for (const { startedAt, endedAt, end } of converted.propagations) {
          expect(endedAt).toBeGreaterThanOrEqual(startedAt);
          ends.push(end);
        }
      },
    };
    const fleet = startFleet({ server, clock, seed, wrapBus: (bus) => tapBus(bus, undefined, recorder) });
    user.createInitialObjects();
    for (let step = 0; step < 60; step++) {
      user.step();
      await advance(clock, step % 5 === 0 ? 10_000 : 50);
    }
    await advance(clock, 60_000);
    await fleet.stop();
    expect(converter.open).toEqual([]);

    recording.append(records, clock.now());
    recording.close(clock.now());
    const reader = new RecordingReader(directory);
    onTestFinished(() => reader.close());
    const atEnd = show(new Map(), new Playback(reader, clock.now()).start);
    const playback = new Playback(reader, middle);
    const played = show(show(new Map(), playback.start), playback.advance(clock.now()));
    const ofRecording = (objects: ReadonlyMap<string, unknown>) =>
      contents((resource) =>
        [...objects.keys()]
          .filter((id) => id.startsWith(`${resource}/`))
          .sort()
          .map((id) => objects.get(id)),
      );
    const ofServer = contents((resource) => server.list(resource).items);
    expect(ofRecording(atEnd)).toEqual(ofServer);
    expect(ofRecording(played)).toEqual(ofServer);
    written += ends.filter((end) => end === 'written').length;
  },
);

test('the seeds have changes that were written', () => {
  expect(written).toBeGreaterThan(400);
});
