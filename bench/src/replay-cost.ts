import { FakeApiServer, FakeClient, populate } from '@sluice/fake-apiserver';
import { type Clock, seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { defaultSettings } from '@sluice/service-state';
import { type AllInOneOptions, startAllInOne } from '@sluice/sluice';
import { namespaceNames, type Shape } from './shape.ts';

type Instruments = (cluster: {
  readonly identity: string;
  readonly clock: Clock;
}) => Pick<AllInOneOptions, 'metrics' | 'tap' | 'tracers'>;

/** Sends the same changes, one after the other, through all services on a fake cluster, without waiting times. */
export class Replay {
  readonly #shape: Shape;
  readonly #clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  readonly #server = new FakeApiServer({ clock: this.#clock, random: seededRandom(1), bookmarkIntervalMs: 0 });
  readonly #population: ReturnType<typeof populate>;
  readonly #fleet: ReturnType<typeof startAllInOne>;
  #changes = 0;

  /** `instruments`: returns observability options; none by default. */
  constructor(shape: Shape, instruments: Instruments = () => ({})) {
    this.#shape = shape;
    this.#population = populate(this.#server, {
      ...{ services: shape.services, podsPerService: shape.pods, namespaces: namespaceNames(shape).length },
    });
    const cluster = new FakeClient(this.#server, { clock: this.#clock });
    this.#fleet = startAllInOne({
      clusters: [{ name: 'c', identity: this.#server.identity, reader: cluster, writer: cluster, record: () => {} }],
      settings: defaultSettings,
      clock: this.#clock,
      random: seededRandom(2),
      logger: silentLogger,
      partitions: 4,
      ...instruments({ identity: this.#server.identity, clock: this.#clock }),
    });
  }

  /**
   * CPU time in microseconds per change, including that of the fake API server and of `after`, which runs at the end.
   */
  async round(changes: number, after?: () => Promise<unknown>): Promise<number> {
    const before = process.cpuUsage();
    for (let i = 0; i < changes; i++) await this.#change();
    await after?.();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / changes;
  }

  async stop(): Promise<void> {
    await this.#fleet.stop(0);
  }

  /** Flips the readiness of a Pod. */
  async #change(): Promise<void> {
    const { services, pods } = this.#shape;
    const i = this.#changes++;
    const [service, pod] = [i % services, Math.floor(i / services) % pods];
    const round = Math.floor(i / (services * pods));
    this.#server.put('pods', this.#population.podObject(service, pod, round % 2 === 1));
    const until = this.#clock.now() + 20;
    do await new Promise((resolve) => setImmediate(resolve));
    while (this.#clock.step(until));
  }
}
