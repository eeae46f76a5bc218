import { type FakeApiServer, type Population, populate } from '@sluice/fake-apiserver';
import { type Random, randomInteger } from '@sluice/platform';

type PodState = 'ready' | 'not ready' | 'gone';

interface Written {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

interface Slice extends Written {
  /** Null, as Go encodes an empty list. */
  readonly endpoints:
    | readonly {
        readonly targetRef: { readonly name: string };
        readonly conditions: { readonly ready: boolean };
      }[]
    | null;
}

type Addresses = readonly { readonly targetRef: { readonly name: string } }[];

interface Endpoints extends Written {
  readonly subsets?: readonly { readonly addresses?: Addresses; readonly notReadyAddresses?: Addresses }[];
}

/** Numbers of Services, and of Pods per Service. */
export interface PodPopulationShape {
  readonly services: number;
  readonly pods: number;
}

/** A fake cluster whose Pods change readiness, are deleted and recreated, with the objects expected for them. */
export class PodPopulation {
  readonly #server: FakeApiServer;
  readonly #random: Random;
  readonly #population: Population;
  readonly #states: PodState[][];

  constructor(server: FakeApiServer, shape: PodPopulationShape, random: Random, now: number) {
    this.#server = server;
    this.#random = random;
    this.#population = populate(server, { services: shape.services, podsPerService: shape.pods, now });
    this.#states = Array.from({ length: shape.services }, () => Array.from({ length: shape.pods }, () => 'ready'));
  }

  /** Changes one Pod: its readiness four times out of five, otherwise its existence. */
  change(): void {
    const service = randomInteger(this.#random, 0, this.#states.length - 1);
    const states = this.#states[service] ?? [];
    const pod = randomInteger(this.#random, 0, states.length - 1);
    const goes = this.#random.next() < 0.2;
    const before = states[pod] ?? 'gone';
    const after: PodState = before === 'gone' ? 'ready' : goes ? 'gone' : before === 'ready' ? 'not ready' : 'ready';
    states[pod] = after;
    const { namespace, name } = this.#population.pod(service, pod);
    if (after === 'gone') this.#server.delete('pods', namespace, name, { gracePeriodSeconds: 0 });
    else this.#server.put('pods', this.#population.podObject(service, pod, after === 'ready'));
  }

  /** The Services whose slices or Endpoints are incorrect, in order. */
  incorrectServices(): readonly string[] {
    const slices = Map.groupBy(
      this.#server.list('endpointslices').items as unknown as readonly Slice[],
      ({ metadata }) => metadata.labels?.['kubernetes.io/service-name'],
    );
    const endpoints = Map.groupBy(
      this.#server.list('endpoints').items as unknown as readonly Endpoints[],
      ({ metadata }) => metadata.name,
    );
    return this.#population.services.flatMap(({ name }, service) => {
      const wanted = this.#wanted(service);
      const inSlices = (slices.get(name) ?? []).flatMap(podsOfSlice).sort().join();
      const inEndpoints = (endpoints.get(name) ?? []).flatMap(podsOfEndpoints).sort().join();
      return inSlices === wanted && inEndpoints === wanted ? [] : [name];
    });
  }

  /** Whether the object is correct for its Service. */
  isExpected(service: string, resource: 'endpointslices' | 'endpoints', object: unknown): boolean {
    const pods = resource === 'endpoints' ? podsOfEndpoints(object as Endpoints) : podsOfSlice(object as Slice);
    const index = this.#population.services.findIndex(({ name }) => name === service);
    return pods.sort().join() === this.#wanted(index);
  }

  #wanted(service: number): string {
    return (this.#states[service] ?? [])
      .flatMap((state, pod) =>
        state === 'gone' ? [] : [`${this.#population.pod(service, pod).name} ${state === 'ready'}`],
      )
      .sort()
      .join();
  }
}

function podsOfSlice({ endpoints }: Slice): string[] {
  return (endpoints ?? []).map(({ targetRef, conditions }) => `${targetRef.name} ${conditions.ready}`);
}

function podsOfEndpoints({ subsets = [] }: Endpoints): string[] {
  return subsets.flatMap(({ addresses = [], notReadyAddresses = [] }) => [
    ...addresses.map(({ targetRef }) => `${targetRef.name} true`),
    ...notReadyAddresses.map(({ targetRef }) => `${targetRef.name} false`),
  ]);
}
