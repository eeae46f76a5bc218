import { fenceWrites, LeaderElector } from '@sluice/fleet/clusters';
import type { ApiClient, ApiRequest } from '@sluice/kubernetes';
import { asRecord, type Clock, type Logger, type Random, randomInteger, sleep } from '@sluice/platform';
import type { SimulatedProcess } from '../../doubles/simulated-process.ts';
import { FaultyConnection, type LinkFaults, noLinkFaults } from '../faulty-connection.ts';
import type { LeaseApi } from '../lease-api.ts';

/** The defaults, with which client-go elects too. */
export const election = {
  ...{ leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 },
  ...{ resourceName: 'sluice-leader', resourceNamespace: 'kube-system' },
};

/** Between two writes of a process, in milliseconds. */
const betweenWritesMs = { least: 50, most: 800 };

export interface CandidateOptions {
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly api: LeaseApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** The bytes of a write leave the process. */
  readonly onWrite: () => void;
}

/** A process that takes part in an election, and writes as long as it may. It ends when it loses the leadership. */
export class Candidate {
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly faults: LinkFaults = { ...noLinkFaults };
  readonly ended: Promise<void>;
  readonly #elector: LeaderElector;
  readonly #stop = new AbortController();
  /** `spec` of the Lease as this process read or wrote it last. */
  #seen = '';

  constructor({ name, process, api, clock, random, logger, onWrite }: CandidateOptions) {
    this.name = name;
    this.process = process;
    const { faults } = this;
    const ports = { own: process.clock, clock, random, faults };
    const leases = new FaultyConnection({
      ...ports,
      server: () => ({ handle: (request) => api.handle(request) }),
      onSent: () => {},
    });
    const request = async (given: ApiRequest) => {
      const answer = await leases.request(given);
      if (!given.path.includes('dryRun')) this.#seen = JSON.stringify(asRecord(answer.body).spec);
      return answer;
    };
    this.#elector = new LeaderElector({
      ...election,
      ...{ cluster: 'prod', identity: name, clock: process.clock, logger },
      connection: { server: '', request, destroy: () => leases.destroy() },
    });
    const written = new FaultyConnection({
      ...{ ...ports, onSent: onWrite },
      server: () => ({ handle: () => ({ status: 200, headers: {}, body: {} }) }),
    });
    const client = { server: '', request: (given: ApiRequest) => written.request(given) } as ApiClient;
    this.ended = this.#run(fenceWrites(client, this.#elector, election), written, random);
  }

  get isLeader(): boolean {
    return !this.process.isDead && this.#elector.isLeader;
  }

  /** Whether it knows that the Lease says this. */
  knows(spec: unknown): boolean {
    return this.#seen === JSON.stringify(spec);
  }

  /** Stops in order. */
  stop(): void {
    this.#stop.abort();
  }

  async #run(client: ApiClient, written: FaultyConnection, random: Random): Promise<void> {
    const { signal } = this.#stop;
    const { lost } = this.#elector;
    const end = AbortSignal.any([signal, lost]);
    const write = async () => {
      const object = { method: 'PUT' as const, path: '/api/v1/namespaces/shop/endpoints/web', body: {}, signal: end };
      while (!end.aborted) {
        await sleep(this.process.clock, randomInteger(random, betweenWritesMs.least, betweenWritesMs.most), end);
        client.request(object).catch(() => {});
      }
    };
    await Promise.all([this.#elector.run(end), write()]);
    await written.destroy();
    await this.#elector.close();
  }
}
