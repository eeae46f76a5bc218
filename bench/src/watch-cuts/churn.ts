import { type FakeApiServer, type FaultPlan, populate } from '@sluice/fake-apiserver';
import type { RawObject } from '@sluice/kubernetes';
import { type Random, randomInteger } from '@sluice/platform';

const services = 10;
const podsPerService = 20;

/** Counts of the events so far. */
export interface Churned {
  readonly changes: number;
  readonly deletions: number;
  /** Of those, the deletions before a compaction without an open watch: only a list can show them. */
  readonly unseenDeletions: number;
  readonly watchesCut: number;
  readonly compactions: number;
}

/** Changes a server continuously, cuts its watches and sometimes compacts its event log. */
export class Churn {
  readonly #server: FakeApiServer;
  readonly #random: Random;
  readonly #population: ReturnType<typeof populate>;
  readonly #there = new Set<string>();
  #changes = 0;
  #deletions = 0;
  #unseenDeletions = 0;
  #watchesCut = 0;
  #compactions = 0;

  constructor(server: FakeApiServer, random: Random) {
    this.#server = server;
    this.#random = random;
    this.#population = populate(server, { services, podsPerService, nodes: 3 });
    for (let service = 0; service < services; service++)
      for (let pod = 0; pod < podsPerService; pod++) this.#there.add(`${service}/${pod}`);
  }

  get done(): Churned {
    return {
      changes: this.#changes,
      deletions: this.#deletions,
      unseenDeletions: this.#unseenDeletions,
      watchesCut: this.#watchesCut,
      compactions: this.#compactions,
    };
  }

  /** Creates, deletes or flips a Pod. */
  change(): void {
    const [service, pod] = [
      randomInteger(this.#random, 0, services - 1),
      randomInteger(this.#random, 0, podsPerService - 1),
    ];
    const key = `${service}/${pod}`;
    this.#changes++;
    if (this.#there.has(key) && this.#random.next() < 0.3) {
      const { namespace, name } = this.#population.pod(service, pod);
      this.#server.delete('pods', namespace, name, { gracePeriodSeconds: 0 });
      this.#there.delete(key);
      this.#deletions++;
    } else {
      this.#server.put('pods', this.#population.podObject(service, pod, this.#random.next() < 0.5) as RawObject);
      this.#there.add(key);
    }
  }

  /** Cuts every watch, abruptly or normally; in half of all cases, compacts what happens next. */
  cut(): void {
    this.#watchesCut += this.#server.cutWatches(this.#random.next() < 0.7 ? 'reset' : 'end');
    if (this.#random.next() < 0.5) return;
    const before = this.#deletions;
    for (let n = randomInteger(this.#random, 1, 5); n > 0; n--) this.change();
    this.#server.compact();
    this.#compactions++;
    this.#unseenDeletions += this.#deletions - before;
  }
}

/** Adds failing requests and lagging servers while the churn runs. */
export function addFaults(faults: FaultPlan): void {
  faults.add({ verb: 'list', error: 'stale', behind: 30, probability: 0.3 });
  faults.add({ verb: 'watch', error: 'stale', behind: 30, probability: 0.1 });
  faults.add({ verb: 'list', error: 'unavailable', probability: 0.05 });
  faults.add({ verb: 'list', error: 'gone', probability: 0.05 });
  faults.add({ verb: 'watch', error: 'gone', probability: 0.05 });
  faults.add({ verb: 'watch', error: 'reset', afterEvents: 5, probability: 0.2 });
}
