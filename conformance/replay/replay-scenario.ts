import { FakeApiServer, FakeClient, FaultPlan, mergePatch } from '@sluice/fake-apiserver';
import { chainWriter, type RawObject } from '@sluice/kubernetes';
import type { Controller, EventToRecord } from '@sluice/model';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { defaultSettings, type Settings } from '@sluice/service-state';
import { type AllInOne, startAllInOne } from '@sluice/sluice';
import { defaultRetry } from '@sluice/writer';
import type { Scenario, ScenarioObject, Step } from './scenario.ts';
import { findSlice } from './slice-target.ts';
import { NoticedNodes } from './upstream/noticed-nodes.ts';
import { type Deviation, policyWith } from './upstream/policy.ts';
import { WriteCounter, type WriteCounts } from './write-counter.ts';

export interface Round {
  readonly objects: { readonly endpoints: readonly RawObject[]; readonly endpointslices: readonly RawObject[] };
  readonly writes: WriteCounts;
  readonly events: readonly Omit<EventToRecord, 'uid'>[];
}

export interface ReplayResult {
  readonly name: string;
  readonly rounds: readonly Round[];
}

const startedAt = Date.parse('2024-01-01T00:00:00Z');
const defaultHorizonMs = 7_200_000;
const resources = {
  Service: 'services',
  Pod: 'pods',
  Node: 'nodes',
  Endpoints: 'endpoints',
  EndpointSlice: 'endpointslices',
} as const;
const controllers: Readonly<Record<Scenario['controller'], Controller>> = {
  endpoints: 'endpoints',
  endpointslice: 'endpointslice',
  mirroring: 'endpointslicemirroring',
};

/**
 * Replays one scenario through the whole pipeline on the fake API server with a virtual clock. In the deviations
 * `reproduced`, Sluice behaves as upstream; in no others, so that without any it runs as in a cluster.
 */
export async function replayScenario(
  scenario: Scenario,
  reproduced: ReadonlySet<Deviation> = new Set(),
): Promise<ReplayResult> {
  const replay = new Replay(scenario, reproduced);
  try {
    return { name: scenario.name, rounds: await replay.rounds() };
  } finally {
    await replay.stop();
  }
}

class Replay {
  readonly #scenario: Scenario;
  readonly #reproduced: ReadonlySet<Deviation>;
  readonly #nodes = new NoticedNodes();
  readonly #clock = new VirtualClock(startedAt);
  readonly #random = seededRandom(1);
  readonly #server = new FakeApiServer({
    clock: this.#clock,
    random: this.#random,
    features: 'storage-only',
    bookmarkIntervalMs: 0,
  });
  readonly #faults: FaultPlan;
  readonly #cluster: FakeClient;
  readonly #writes = new WriteCounter();
  #events: EventToRecord[] = [];
  #starts = 0;
  #fleet: AllInOne | undefined;

  constructor(scenario: Scenario, reproduced: ReadonlySet<Deviation>) {
    this.#scenario = scenario;
    this.#reproduced = reproduced;
    this.#faults = new FaultPlan(scenario.faults ?? []);
    this.#cluster = new FakeClient(this.#server, { clock: this.#clock, faults: this.#faults });
  }

  async rounds(): Promise<Round[]> {
    for (const object of this.#scenario.objects ?? []) this.#put(object);
    this.#start();
    await this.#drain();
    const rounds = [this.#round()];
    let drained = true;
    for (const step of this.#scenario.steps ?? []) {
      const pause = this.#play(step, drained);
      if (pause !== undefined) await pause;
      drained = step.op !== 'fault' && step.run !== false;
      if (drained) await this.#drain();
      rounds.push(this.#round());
    }
    return rounds;
  }

  /** Does not yield unless necessary, so that a round that is not drained makes no progress between two steps. */
  #play(step: Step, drained: boolean): Promise<void> | undefined {
    // Timers that fire while the clock advances see the caches as they are after the step.
    this.#clock.skipTo(this.#clock.now() + (step.forMs ?? 0));
    if (step.op === 'restart') return this.#restart();
    // A resync shows the contents of the caches, so pending watch events are delivered first.
    if (step.op === 'resync' && !drained && this.#hasResyncs()) return idle().then(() => this.#take(step));
    this.#take(step);
    return undefined;
  }

  async stop(): Promise<void> {
    await this.#fleet?.stop(0);
  }

  #start(): void {
    this.#fleet = startAllInOne({
      clusters: [
        {
          name: 'replay',
          identity: this.#server.identity,
          reader: this.#cluster,
          writer: chainWriter(this.#cluster, this.#writes.middleware),
          record: (events) => void this.#events.push(...events),
        },
      ],
      settings: this.#settings(),
      clock: this.#clock,
      random: this.#random,
      logger: silentLogger,
      partitions: 1,
      // No timer of Sluice's own moves the clock.
      commitIntervalMs: 0,
      epoch: ++this.#starts,
      // Resyncs are steps of the scenario.
      resyncPeriodMs: Number.MAX_SAFE_INTEGER,
      // One sync is one attempt; a failed request is not retried within its plan (B4).
      retry: this.#reproduced.has('B3') ? { ...defaultRetry, attempts: 1 } : defaultRetry,
    });
  }

  #settings(): Settings {
    const reproduced = new Set(this.#reproduced);
    // Updates without effect matter only where requests fail.
    if (!hasFaults(this.#scenario)) reproduced.delete('K5');
    const settings = { ...settingsOf(this.#scenario), policy: policyWith(reproduced) };
    // Upstream drops a key that failed too often (B4).
    return reproduced.has('B3') ? { ...settings, parkedRetryMs: null } : settings;
  }

  #take(step: Step): void {
    switch (step.op) {
      case 'apply':
        return this.#put(step.object);
      case 'delete':
        return this.#delete(step.object);
      case 'userEdit':
      case 'userDelete': {
        const slices = this.#server.list('endpointslices').items as unknown as RawObject[];
        const slice = findSlice(slices, step.target, this.#writes.created);
        if (slice === undefined) return;
        const { namespace, name } = slice.metadata;
        if (step.op === 'userEdit') this.#edit(slice as unknown as ScenarioObject, step.merge);
        else this.#server.delete('endpointslices', namespace, name);
        return;
      }
      case 'fault':
        return this.#faults.add(step.fault);
      case 'resync':
        return this.#hasResyncs() ? this.#fleet?.resync() : undefined;
      case 'restart':
      case 'deliver':
      case 'settle':
        // No effect: Sluice does not wait for the watch echo of its own writes.
        return;
    }
  }

  #put(object: ScenarioObject): void {
    const noticed = object.kind === 'Node' && this.#reproduced.has('E3') ? this.#nodes.written(object) : [object];
    for (const one of noticed) this.#store(one);
  }

  /**
   * In recordings, slices that users create have a TypeMeta, which makes them differ from a placeholder (E24 compares
   * whole values); slices read from a real API server have none.
   */
  #store(object: ScenarioObject): void {
    const traced = object.kind === 'EndpointSlice' ? { ...object, typeMeta: { kind: object.kind } } : object;
    this.#server.put(resources[object.kind], traced);
  }

  /** In scenarios, users may set fields that a real API server protects, such as the deletionTimestamp. */
  #edit(slice: ScenarioObject, merge: unknown): void {
    const { generation: _generation, ...metadata } = slice.metadata;
    this.#server.put('endpointslices', mergePatch({ ...slice, metadata }, merge) as RawObject);
  }

  async #restart(): Promise<void> {
    await this.stop();
    for (const node of this.#nodes.takeHeld()) this.#store(node);
    this.#start();
  }

  #delete({ kind, metadata }: ScenarioObject): void {
    if (kind === 'Node') for (const node of this.#nodes.deleted(metadata.name)) this.#store(node);
    const resource = resources[kind];
    const { items } = this.#server.list(resource);
    const namespace = metadata.namespace ?? '';
    const known = items.some((item) => item.metadata.name === metadata.name && item.metadata.namespace === namespace);
    if (known) this.#server.delete(resource, namespace, metadata.name);
  }

  /**
   * Whether resyncs are played. Otherwise only time passes in them: nothing that Sluice leaves stale may hide behind a
   * resync.
   */
  #hasResyncs(): boolean {
    return this.#reproduced.has('A7');
  }

  /**
   * Runs everything that is due within the scenario's horizon. A resync brings forward what is due later, so without resyncs
   * that is awaited, too.
   */
  async #drain(): Promise<void> {
    const { horizonMs = defaultHorizonMs } = this.#scenario.config ?? {};
    const until = this.#clock.now() + (this.#hasResyncs() ? horizonMs : defaultHorizonMs);
    for (;;) {
      await idle();
      const next = this.#clock.nextAt();
      if (next === undefined || next > until) return;
      this.#clock.step(until);
    }
  }

  #round(): Round {
    const events = this.#events;
    this.#events = [];
    return {
      objects: {
        endpoints: this.#server.list('endpoints').items as unknown as RawObject[],
        endpointslices: this.#server.list('endpointslices').items as unknown as RawObject[],
      },
      writes: this.#writes.drain(),
      events,
    };
  }
}

/** Nothing here does I/O, so all runnable work is complete when the event loop comes around. */
const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Whether requests fail, so that their number matters. */
const hasFaults = ({ faults, steps }: Scenario): boolean =>
  (faults ?? []).length > 0 || (steps ?? []).some(({ op }) => op === 'fault');

function settingsOf({ controller, config }: Scenario): Settings {
  return {
    ...defaultSettings,
    controllers: new Set([controllers[controller]]),
    maxEndpointsPerSlice: config?.maxEndpointsPerSlice || defaultSettings.maxEndpointsPerSlice,
    maxEndpointsPerSubset: config?.maxEndpointsPerSubset || defaultSettings.maxEndpointsPerSubset,
    batchPeriodMs: {
      endpoints: config?.batchPeriodMs ?? 0,
      endpointslice: config?.batchPeriodMs ?? 0,
      endpointslicemirroring: config?.batchPeriodMs ?? 0,
    },
  };
}
