import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiServerHttp, FakeApiServer, FaultyNetwork, kubeconfigOf } from '@sluice/fake-apiserver';
import { seededRandom } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { PodPopulation, type PodPopulationShape } from './pod-population.ts';

interface Owned {
  readonly metadata: {
    readonly name: string;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
}

/** A fake cluster behind a network that can fail, which processes find through a kubeconfig in a directory. */
export class FleetCluster {
  readonly name: string;
  readonly world: PodPopulation;
  /** Slices that the cluster stored although their owner is not one of its Services. */
  readonly foreign: string[] = [];
  /** Writes of Endpoints and EndpointSlices so far. */
  writes = 0;
  readonly #server: FakeApiServer;
  readonly #http: ApiServerHttp;
  readonly #file: string;
  #network: FaultyNetwork | undefined;

  /** Clusters have the same Services and Pods by name; uids and changes depend on the seed. */
  constructor(name: string, directory: string, shape: PodPopulationShape, seed: number) {
    this.name = name;
    this.#file = join(directory, `${name}.json`);
    this.#server = new FakeApiServer({ clock: systemClock, random: seededRandom(seed) });
    this.world = new PodPopulation(this.#server, shape, seededRandom(seed + 1), systemClock.now());
    const services = new Set(this.#server.list('services').items.map(({ metadata }) => metadata.uid));
    this.#server.onCommit((resource, { object }) => {
      if (resource !== 'endpoints' && resource !== 'endpointslices') return;
      this.writes++;
      const { metadata } = object as unknown as Owned;
      const owners = metadata.ownerReferences ?? [];
      if (owners.some(({ uid }) => !services.has(uid))) this.foreign.push(metadata.name);
    });
    this.#http = new ApiServerHttp({ server: this.#server, clock: systemClock });
  }

  async start(): Promise<void> {
    this.#network = new FaultyNetwork(await this.#http.listen());
    const address = await this.#network.listen();
    this.#kubeconfig = JSON.stringify(kubeconfigOf(`http://${address}`));
    this.addToDirectory();
  }
  #kubeconfig = '';

  async stop(): Promise<void> {
    await this.#network?.refuse();
    await this.#http.close();
  }

  addToDirectory(): void {
    writeFileSync(this.#file, this.#kubeconfig);
  }

  removeFromDirectory(): void {
    rmSync(this.#file);
  }

  /** Bytes in both directions are lost until `repair`; connections stay open. */
  swallow(): void {
    this.#network?.swallow();
  }

  repair(): void {
    this.#network?.heal();
    // As clients would by themselves, later.
    this.#network?.cut();
  }
}
