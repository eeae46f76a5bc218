import { FakeApiServer, type Population, populate, type StoredObject } from '@sluice/fake-apiserver';
import { type Random, randomInteger, seededRandom } from '@sluice/platform';
import { MemoryStore } from '@sluice/store';
import { MassChangeGuard } from '@sluice/writer';
import { type EndpointLines, endpointsOf, slicesOf } from '../../../harness/expected-endpoints.ts';
import { type Fleet, startFleet } from '../../../harness/fleet.ts';
import { longestFaultMs } from '../process-faults.ts';
import type { SuitePorts, SuiteWorld } from '../suite.ts';
import type { SuiteEventKind } from '../suite-kinds.ts';
import { ForgedRemovals } from './forged-removals.ts';

/** The default, and what needs no confirmation. */
const [percent, floor] = [25, 20];
/** After so many confirmations in a row, one plan in ten is checked. */
const [checksUntilSampling, unchecked] = [20, 10];
/** Comparing all Services takes longer than a tick of the suite, in milliseconds. */
const compareMs = 1_000;
/** A true change, also of most Services, is written within this time, in milliseconds. */
const writtenWithinMs = 15_000;
/** After broken watches, a watcher lists again within this time, in milliseconds. */
const listedWithinMs = 30_000;

const written = { slices: slicesOf, endpoints: endpointsOf } as const;
type Written = keyof typeof written;

/** A fleet whose watcher sees an API server that denies the existence of objects (ADR 0029). */
export class RemovalWorld implements SuiteWorld<'removals'> {
  readonly boundMs = listedWithinMs + writtenWithinMs;
  readonly #ports: SuitePorts;
  readonly #server: FakeApiServer;
  readonly #population: Population;
  readonly #podsPerService: number;
  readonly #forged = new ForgedRemovals();
  readonly #store = new MemoryStore();
  #fleet: Fleet;
  #token = 0;
  #comparedAt = 0;
  /** When everything is as it must be. */
  #rightAt: number;
  #confirmed = 0;
  /** The most confirmations in a row since the objects disappeared: what they let pass is not taken back. */
  #mostConfirmed = 0;
  /** Ready endpoints as written when the objects disappeared. */
  #before: Readonly<Record<Written, ReadonlySet<string>>> | undefined;

  constructor(ports: SuitePorts) {
    this.#ports = ports;
    const { clock, random } = ports;
    this.#server = new FakeApiServer({
      clock,
      random: seededRandom(randomInteger(random, 0, 1e9)),
      bookmarkIntervalMs: 0,
    });
    this.#podsPerService = randomInteger(random, 4, 10);
    const services = randomInteger(random, 4, 8);
    this.#population = populate(this.#server, { services, podsPerService: this.#podsPerService, nodes: 4 });
    this.#rightAt = clock.now() + writtenWithinMs;
    this.#fleet = this.#start();
  }

  act(kind: SuiteEventKind<'removals'>, random: Random): string {
    const what = this.#events[kind](random);
    if (what !== undefined) this.#disturb(writtenWithinMs);
    return what ?? 'without effect';
  }

  check(): void {
    const now = this.#ports.clock.now();
    if (now - this.#comparedAt < compareMs) return;
    this.#comparedAt = now;
    for (const kind of ['slices', 'endpoints'] as const) {
      const lines = written[kind](this.#server);
      if (this.#before !== undefined) this.#checkHeldBack(kind, lines, this.#before[kind]);
      else if (now > this.#rightAt && !isRight(lines))
        this.#ports.violations.report('true removals are written', `${kind} are ${difference(lines)}`);
    }
  }

  heal(): void {
    this.#tellTruth();
  }

  unfinished(): string | undefined {
    const wrong = (['slices', 'endpoints'] as const).find((of) => !isRight(written[of](this.#server)));
    return wrong && `${wrong} are ${difference(written[wrong](this.#server))}`;
  }

  async stop(): Promise<void> {
    await this.#fleet.stop();
  }

  /** The guard lets a quarter of the endpoints pass, or the floor, and the plan that exceeds it. */
  #checkHeldBack(of: Written, { expected, actual }: EndpointLines, before: ReadonlySet<string>): void {
    const now = new Set(actual);
    const removed = expected.filter((line) => before.has(line) && !now.has(line));
    const sampled = this.#mostConfirmed >= checksUntilSampling ? unchecked : 0;
    const most = Math.max(floor, (percent / 100) * before.size) + (1 + sampled) * this.#podsPerService;
    if (removed.length <= most) return;
    const what = `${removed.length} of ${before.size} ready endpoints of ${of} are removed, and their Pods exist`;
    this.#ports.violations.report('forged removals are held back', what);
  }

  #start(): Fleet {
    const { clock } = this.#ports;
    const onChecked = (result: string) => {
      this.#confirmed = result === 'confirmed' ? this.#confirmed + 1 : 0;
      this.#mostConfirmed = Math.max(this.#mostConfirmed, this.#confirmed);
    };
    const guard = new MassChangeGuard('removal', { percent, clock, onChecked });
    return startFleet({
      ...{ server: this.#server, clock, seed: ++this.#token, store: this.#store, fencingToken: this.#token },
      writable: { massChangeGuards: [guard] },
      wrapReader: (reader) => this.#forged.reader(reader),
    });
  }

  get #events(): Readonly<Record<SuiteEventKind<'removals'>, (random: Random) => string | undefined>> {
    return {
      'lists lack objects': (random) => this.#lie(random, false),
      'watches report deletions': (random) => this.#lie(random, true),
      'Services are scaled to zero': (random) =>
        this.#forServices(random, (service) => {
          for (let n = 0; n < this.#podsPerService; n++) {
            const { namespace, name } = this.#population.pod(service, n);
            if (this.#podsOf().some(({ metadata }) => metadata.name === name))
              this.#server.delete('pods', namespace, name, { gracePeriodSeconds: 0 });
          }
        }),
      'Pods become ready': (random) => this.#forServices(random, (service) => this.#putPods(service, true)),
      'Pods become unready': (random) => this.#forServices(random, (service) => this.#putPods(service, false)),
      'fleet restarts': () => {
        // A new process counts from the beginning.
        if (this.#before !== undefined) return undefined;
        const former = this.#fleet;
        this.#fleet = this.#start();
        void former.stop();
        return 'done';
      },
    };
  }

  #podsOf(): readonly StoredObject[] {
    return this.#server.list('pods').items;
  }

  #putPods(service: number, ready: boolean): void {
    for (let n = 0; n < this.#podsPerService; n++)
      this.#server.put('pods', this.#population.podObject(service, n, ready));
  }

  /** Some or most Services. */
  #forServices(random: Random, act: (service: number) => void): string {
    const share = random.next();
    const chosen = [...this.#population.services.keys()].filter(() => random.next() < share);
    for (const service of chosen) act(service);
    return `${chosen.length} of ${this.#population.services.length}`;
  }

  #lie(random: Random, areReported: boolean): string | undefined {
    if (this.#before !== undefined) return undefined;
    const ready = (of: Written) => {
      const { expected, actual } = written[of](this.#server);
      const now = new Set(actual.filter((line) => line.endsWith(' true')));
      return new Set(expected.filter((line) => now.has(line)));
    };
    this.#before = { slices: ready('slices'), endpoints: ready('endpoints') };
    this.#mostConfirmed = this.#confirmed;
    const resource = (['pods', 'pods', 'services', 'nodes'] as const)[randomInteger(random, 0, 3)] ?? 'pods';
    const all = this.#server.list(resource).items;
    const left = random.next() < 0.5 ? 0 : randomInteger(random, 0, all.length);
    this.#forged.hide(resource, all.slice(left), areReported);
    if (!areReported) this.#expireWatches();
    const forMs = randomInteger(random, 500, 2 * longestFaultMs);
    this.#ports.clock.schedule(forMs, () => this.#tellTruth());
    return `${left} of ${all.length} ${resource} are left for ${forMs} ms`;
  }

  #tellTruth(): void {
    if (this.#before === undefined) return;
    this.#before = undefined;
    this.#disturb(listedWithinMs + writtenWithinMs);
    this.#forged.end();
    this.#expireWatches();
  }

  #disturb(forMs: number): void {
    this.#rightAt = Math.max(this.#rightAt, this.#ports.clock.now() + forMs);
  }

  /** Watches end and cannot be resumed. */
  #expireWatches(): void {
    this.#server.cutWatches('reset');
    const [node] = this.#server.list('nodes').items;
    const annotations = { 'example.org/written': String(this.#ports.clock.now()) };
    if (node !== undefined) this.#server.update('nodes', { ...node, metadata: { ...node.metadata, annotations } });
    this.#server.compact();
  }
}

const isRight = ({ expected, actual }: EndpointLines): boolean => expected.join('\n') === actual.join('\n');

function difference({ expected, actual }: EndpointLines): string {
  const [want, have] = [new Set(expected), new Set(actual)];
  const missing = expected.filter((line) => !have.has(line));
  const surplus = actual.filter((line) => !want.has(line));
  return `missing ${missing.length} (${missing[0] ?? ''}), surplus ${surplus.length} (${surplus[0] ?? ''})`;
}
