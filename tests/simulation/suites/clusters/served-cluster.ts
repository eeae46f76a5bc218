import { FakeApiServer, FakeClient, type Population, populate } from '@sluice/fake-apiserver';
import type { ConnectedCluster } from '@sluice/fleet/clusters';
import { ApiError, type Connection, chainReader, chainWriter, type Middleware } from '@sluice/kubernetes';
import { type Random, randomInteger, seededRandom, type VirtualClock } from '@sluice/platform';
import { endpointsOf, slicesOf } from '../../../harness/expected-endpoints.ts';
import type { SimulatedProcess } from '../../doubles/simulated-process.ts';
import { FaultyConnection, noLinkFaults } from '../faulty-connection.ts';
import { LeaseApi } from '../lease-api.ts';

const claimLease = 'sluice';
const [services, podsPerService] = [2, 2] as const;

interface ConnectOptions {
  readonly process: SimulatedProcess;
  readonly clock: VirtualClock;
  readonly random: Random;
  /** A request leaves the process. */
  readonly onRequest: () => void;
}

/** A cluster with its API server. */
export class ServedCluster {
  readonly name: string;
  readonly server: FakeApiServer;
  readonly #clock: VirtualClock;
  readonly #population: Population;
  readonly #leases: LeaseApi;
  /** Since when its API server answers; undefined: it does not. */
  #upSince: number | undefined;
  /** Endpoints that were written and have stayed right since. */
  #steady: ReadonlySet<string> = new Set();

  constructor(name: string, clock: VirtualClock, random: Random) {
    this.name = name;
    this.#clock = clock;
    this.#upSince = clock.now();
    this.server = new FakeApiServer({
      ...{ clock, random: seededRandom(randomInteger(random, 0, 1e9)), bookmarkIntervalMs: 0 },
    });
    this.#leases = new LeaseApi(() => clock.now(), this.server.identity);
    this.#population = populate(this.server, { services, podsPerService, nodes: 1 });
  }

  get identity(): string {
    return this.server.identity;
  }

  get upSince(): number | undefined {
    return this.#upSince;
  }

  /** Nothing answers, or the API server is back. */
  setDown(isDown: boolean): void {
    if (isDown) this.server.cutWatches('reset');
    this.#upSince = isDown ? undefined : (this.#upSince ?? this.#clock.now());
  }

  /** The readiness of one of its Pods changes. */
  flip(random: Random): void {
    const [service, pod] = [randomInteger(random, 0, services - 1), randomInteger(random, 0, podsPerService - 1)];
    this.server.put('pods', this.#population.podObject(service, pod, random.next() < 0.5));
    this.#steady = new Set();
  }

  /** A fleet that is not seen again claims it. */
  claim(): void {
    const spec = this.#leases.spec(claimLease);
    const renewTime = new Date(this.#clock.now()).toISOString();
    if (spec !== undefined) this.#leases.edit(claimLease, { ...spec, holderIdentity: 'another fleet', renewTime });
  }

  /** What is missing or surplus among the endpoints of its Services. */
  get differences(): readonly string[] {
    return [slicesOf(this.server), endpointsOf(this.server)].flatMap(({ expected, actual }) => {
      const [want, have] = [new Set(expected), new Set(actual)];
      return [...expected.filter((line) => !have.has(line)), ...actual.filter((line) => !want.has(line))];
    });
  }

  /** Endpoints that were right and that nobody has changed, but that are not right any more. */
  get spoiled(): readonly string[] {
    const all = [slicesOf(this.server), endpointsOf(this.server)];
    const expected = new Set(all.flatMap((lines) => lines.expected));
    const actual = new Set(all.flatMap((lines) => lines.actual));
    const spoiled = [...this.#steady].filter((line) => expected.has(line) && !actual.has(line));
    this.#steady = new Set([...expected].filter((line) => actual.has(line)));
    return spoiled;
  }

  /** Connects a process. */
  async connect({ process, clock, random, onRequest }: ConnectOptions): Promise<ConnectedCluster> {
    const { name, server } = this;
    let isClosed = false;
    const assertOpen = () => {
      if (isClosed || this.#upSince === undefined)
        throw new ApiError('injected: connection refused', { kind: 'retry', status: 0, reason: 'ECONNREFUSED' });
    };
    const send: Middleware = async (request, next) => {
      assertOpen();
      onRequest();
      return next(request);
    };
    const client = () => new FakeClient(server, { clock });
    const connection = new FaultyConnection({
      ...{ own: process.clock, clock, random, faults: noLinkFaults, onSent: () => onRequest() },
      server: () => ({
        handle: (request) => {
          assertOpen();
          if (request.path.includes('/leases')) return this.#leases.handle(request);
          return { status: 200, headers: {}, body: { items: [], metadata: {} } };
        },
      }),
    });
    const reader = process.reader(chainReader(client(), send), name);
    assertOpen();
    const identity = await reader.identity(new AbortController().signal);
    return {
      ...{ name, identity, reader, server: `https://${name}`, version: '', record: () => {} },
      writer: process.writer(chainWriter(client(), send), name),
      connection: connection as unknown as Connection,
      close: async () => {
        isClosed = true;
        await connection.destroy();
      },
    };
  }
}
