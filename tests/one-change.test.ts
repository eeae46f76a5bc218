import { readFileSync } from 'node:fs';
import { type Bus, type BusRecord, ForwardingBus, type Topic } from '@sluice/bus';
import { FakeApiServer } from '@sluice/fake-apiserver';
import { chainReader, mapWatch } from '@sluice/kubernetes';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { expect, test } from 'vitest';
import { startFleet } from './harness/fleet.ts';
import { nodeObject, podObject } from './harness/objects.ts';
import { observeWrites } from './harness/observe-writes.ts';

/** What passed a step: `watch`, a topic, or `write`. */
interface Step {
  readonly at: string;
  readonly what: unknown;
}

const startedAt = '2026-01-01T00:00:00Z';
const laterAt = '2026-01-01T00:01:00Z';

class RecordingBus extends ForwardingBus {
  readonly #onRecord: (topic: Topic, record: BusRecord) => void;

  constructor(inner: Bus, onRecord: (topic: Topic, record: BusRecord) => void) {
    super(inner);
    this.#onRecord = onRecord;
  }

  override append(topic: Topic, partition: number, records: readonly BusRecord[]) {
    for (const record of records) this.#onRecord(topic, record);
    return super.append(topic, partition, records);
  }
}

/** A Pod of a Service with one slice and one Endpoints object becomes ready. */
async function traceOneChange(): Promise<readonly Step[]> {
  const clock = new VirtualClock(Date.parse(startedAt));
  const server = new FakeApiServer({ clock, random: seededRandom(1), bookmarkIntervalMs: 0 });
  const steps: Step[] = [];
  const pod = (ready: boolean, since: string) =>
    podObject({
      name: 'cart-1',
      labels: { app: 'cart' },
      ips: ['10.0.0.7'],
      node: 'node-1',
      ready,
      since,
      httpPort: 8080,
    });
  server.create('namespaces', { metadata: { name: 'shop' } });
  server.create('nodes', nodeObject('node-1', 'zone-a'));
  server.create('services', {
    metadata: { name: 'cart', namespace: 'shop' },
    spec: {
      selector: { app: 'cart' },
      clusterIP: '10.96.0.9',
      ports: [{ name: 'http', port: 80, targetPort: 'http' }],
    },
  });
  server.put('pods', pod(false, startedAt));
  const fleet = startFleet({
    clock,
    seed: 2,
    server: observeWrites(
      server,
      ({ verb, resource, after }) => steps.push({ at: `${verb} ${resource}`, what: after }),
      () => {},
    ),
    wrapBus: (bus) =>
      new RecordingBus(bus, (topic, { key, id, payload }) =>
        steps.push({ at: topic, what: { key, id, message: JSON.parse(new TextDecoder().decode(payload)) } }),
      ),
    wrapReader: (reader) =>
      chainReader(reader, async (request, next) =>
        mapWatch(request, await next(request), async function* (stream) {
          for await (const events of stream) {
            steps.push({ at: 'watch', what: events });
            yield events;
          }
        }),
      ),
  });
  await advance(clock, 60_000);
  steps.length = 0;
  const { items } = server.list('pods');
  server.put('pods', { ...items[0], ...pod(true, laterAt), metadata: items[0]?.metadata });
  await advance(clock, 2_000);
  await fleet.stop();
  return steps;
}

/** The JSON blocks of docs/concepts/one-change.md. They may leave fields out. */
const blocks = [
  ...readFileSync(new URL('../docs/concepts/one-change.md', import.meta.url), 'utf8').matchAll(/```json\n([^`]*)```/g),
].map(([, json = '']): unknown => JSON.parse(json));

test('docs/concepts/one-change.md shows the messages of a real change, and nothing is decided after it', async () => {
  const steps = await traceOneChange();
  const at = (place: string) => steps.filter((step) => step.at === place).map(({ what }) => what);
  const [podEvent, sliceEvent] = at('watch');
  const outcome = at('changes').find((record) => JSON.stringify(record).includes('"kind":"outcome","'));
  const shown = [podEvent, at('changes')[0], at('mutations')[0], at('update endpointslices')[0], outcome, sliceEvent];
  expect(shown).toMatchObject(blocks);
  expect(at('mutations')).toHaveLength(2);
});
