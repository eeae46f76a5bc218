import { FakeApiServer, FakeClient, FaultPlan, type Population, populate } from '@sluice/fake-apiserver';
import { randomInteger, seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { defaultSettings, type Settings, sliceBytes } from '@sluice/service-state';
import { startAllInOne } from '@sluice/sluice';

/** Time of a request to the API server, in milliseconds. */
const requestMs = 5;

interface Slice {
  readonly endpoints: readonly {
    readonly targetRef: { readonly name: string };
    readonly conditions: { readonly ready: boolean };
  }[];
}

export interface TrafficOptions {
  readonly services: number;
  readonly pods: number;
  readonly seed: number;
  readonly settings?: Partial<Settings>;
  readonly compactionWritesPerHour?: number;
}

/** Sluice on a fake API server, on a virtual clock, with a count of what each watcher of its slices receives. */
export class WatchTraffic {
  readonly clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  readonly #server: FakeApiServer;
  readonly #population: Population;
  readonly #run: ReturnType<typeof startAllInOne>;
  readonly #random;
  readonly #options: TrafficOptions;
  /** Events of slices so far, and their estimated bytes. */
  events = 0;
  bytes = 0;
  /** Time from each change of readiness until a slice shows it, in milliseconds. */
  readonly latencies: number[] = [];
  readonly #pending = new Map<string, { readonly ready: boolean; readonly at: number }>();
  readonly #ready = new Map<string, boolean>();

  constructor(options: TrafficOptions) {
    const { services, pods, seed } = options;
    this.#options = options;
    this.#random = seededRandom(seed);
    const { clock } = this;
    this.#server = new FakeApiServer({ clock, random: seededRandom(seed) });
    this.#population = populate(this.#server, { services, podsPerService: pods, now: clock.now() });
    this.#server.onCommit((resource, { object }) => {
      if (resource !== 'endpointslices') return;
      this.events++;
      this.bytes += sliceBytes(object as never);
      for (const { targetRef, conditions } of (object as unknown as Slice).endpoints ?? []) {
        const flip = this.#pending.get(targetRef.name);
        if (flip?.ready !== conditions.ready) continue;
        this.latencies.push(clock.now() - flip.at);
        this.#pending.delete(targetRef.name);
      }
    });
    const client = new FakeClient(this.#server, { clock, faults: new FaultPlan([{ latencyMs: requestMs }]) });
    const settings = { ...defaultSettings, ...options.settings, controllers: new Set(['endpointslice'] as const) };
    const writesPerHour = options.compactionWritesPerHour ?? 0;
    this.#run = startAllInOne({
      clusters: [{ name: 'c', identity: this.#server.identity, reader: client, writer: client, record: () => {} }],
      ...{ partitions: 4, clock, random: seededRandom(seed), logger: silentLogger, settings },
      ...(writesPerHour > 0 && {
        compaction: { writesPerHour, maxEndpointsPerSlice: settings.maxEndpointsPerSlice },
      }),
    });
  }

  get slices(): number {
    return this.#server.count('endpointslices');
  }

  /** Estimated bytes of a list of all slices. */
  get listBytes(): number {
    return this.#server.list('endpointslices').items.reduce((sum, slice) => sum + sliceBytes(slice as never), 0);
  }

  /** Clears the counts. */
  reset(): void {
    [this.events, this.bytes] = [0, 0];
    this.latencies.length = 0;
  }

  /** Changes the readiness of Pods, `perSecond` of them at even intervals. */
  async flip(perSecond: number, seconds: number): Promise<void> {
    const { services, pods } = this.#options;
    for (let n = 0; n < perSecond * seconds; n++) {
      const [service, pod] = [randomInteger(this.#random, 0, services - 1), randomInteger(this.#random, 0, pods - 1)];
      const { name } = this.#population.pod(service, pod);
      // One whose last change is not written yet would only take it back.
      if (!this.#pending.has(name)) {
        const ready = !(this.#ready.get(name) ?? true);
        this.#ready.set(name, ready);
        this.#pending.set(name, { ready, at: this.clock.now() });
        this.#server.put('pods', this.#population.podObject(service, pod, ready));
      }
      await advance(this.clock, 1_000 / perSecond);
    }
    await advance(this.clock, 20_000);
  }

  /** Deletes this share of all Pods at random, ten at a time. */
  async scaleDown(share: number): Promise<void> {
    const { services, pods } = this.#options;
    const names = Array.from({ length: services * pods }, (_, i) =>
      this.#population.pod(Math.floor(i / pods), i % pods),
    );
    for (let left = Math.round(names.length * share); left > 0; left--) {
      const [at] = names.splice(randomInteger(this.#random, 0, names.length - 1), 1);
      if (at !== undefined) this.#server.delete('pods', at.namespace, at.name, { gracePeriodSeconds: 0 });
      if (left % 10 === 0) await advance(this.clock, 50);
    }
    await advance(this.clock, 20_000);
  }

  async stop(): Promise<void> {
    await this.#run.stop(0);
  }
}
