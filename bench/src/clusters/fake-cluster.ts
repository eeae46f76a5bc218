import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiServerHttp, FakeApiServer, FaultPlan, FaultyNetwork, kubeconfigOf } from '@sluice/fake-apiserver';
import type { RawObject } from '@sluice/kubernetes';
import { seededRandom } from '@sluice/platform';
import { systemClock as clock } from '@sluice/platform/process';
import { Convergence } from '../convergence.ts';
import { FlipTracker } from '../flip-tracker.ts';
import { PodPool } from '../pod-pool.ts';
import { eventOf, type WatchedObject } from '../pod-readiness-event.ts';
import { benchPods, namespaceNames, nodeObjects, podObject, type Shape, serviceObjects } from '../shape.ts';

/** How a cluster fails. */
export type ClusterFault =
  /** Connections are refused. */
  | 'refused'
  /** Bytes are dropped silently. */
  | 'swallowed'
  /** Every response takes 5 s. */
  | 'slow'
  /** Every request gets 429. */
  | 'throttled';

const slowMs = 5_000;

/** A fake cluster over HTTP whose Pods flip, and a watch of its slices that records when they show each flip. */
export class FakeCluster {
  readonly #shape: Shape;
  readonly #server: FakeApiServer;
  readonly #faults = new FaultPlan();
  readonly #http: ApiServerHttp;
  readonly #pool: PodPool;
  /** Writes of Endpoints and EndpointSlices so far. */
  writes = 0;
  #network: FaultyNetwork | undefined;
  #flips = new FlipTracker();
  #convergence: Convergence;

  constructor(shape: Shape, seed: number) {
    this.#shape = shape;
    this.#server = new FakeApiServer({ clock, random: seededRandom(seed) });
    const put = (resource: 'nodes' | 'pods', object: object) => void this.#server.put(resource, object as RawObject);
    for (const name of namespaceNames(shape)) this.#server.create('namespaces', { metadata: { name } });
    for (const node of nodeObjects(shape.nodes)) put('nodes', node);
    // With the defaults that an API server fills in.
    for (const service of serviceObjects(shape)) this.#server.create('services', service as RawObject);
    const pods = benchPods(shape);
    for (const pod of pods) put('pods', podObject(pod, true, new Date().toISOString()));
    this.#convergence = new Convergence(shape);
    const random = seededRandom(seed + 1);
    this.#pool = new PodPool(pods, random);
    this.#server.onCommit((resource, { type, object }) => {
      if (resource === 'endpoints' || resource === 'endpointslices') {
        this.writes++;
        this.#observe(resource, type, object as unknown as WatchedObject);
      }
    });
    this.#http = new ApiServerHttp({ server: this.#server, clock, faults: this.#faults });
  }

  /** True once every Service has all of its Pods in its slices and Endpoints. */
  get complete(): boolean {
    return this.#convergence.complete;
  }

  /** `behindNetwork`: connect through a network that can fail. */
  async serve(directory: string, name: string, behindNetwork: boolean): Promise<void> {
    let url = await this.#http.listen();
    if (behindNetwork) {
      this.#network = new FaultyNetwork(url);
      url = `http://${await this.#network.listen()}`;
    }
    writeFileSync(join(directory, `${name}.json`), JSON.stringify(kubeconfigOf(url)));
  }

  async inject(how: ClusterFault): Promise<void> {
    if (how === 'refused') await this.#network?.refuse();
    else if (how === 'swallowed') this.#network?.swallow();
    else {
      this.#faults.add(how === 'slow' ? { latencyMs: slowMs } : { error: 'tooManyRequests' });
      this.#server.cutWatches('reset');
    }
  }

  /** Ends all faults. Cuts the connections that dropped bytes, since their clients would do the same. */
  async repair(how: ClusterFault): Promise<void> {
    if (how === 'refused') await this.#network?.listen();
    else if (how === 'swallowed') {
      this.#network?.heal();
      this.#network?.cut();
    } else this.#faults.clear();
  }

  flip(): void {
    const { pod, ready } = this.#pool.take();
    this.#flips.sent(pod.name, ready);
    this.#server.put('pods', podObject(pod, ready, new Date().toISOString()) as RawObject);
    this.#flips.acknowledged(pod.name, ready, performance.now());
  }

  /** Number of flips that the slices do not show yet. */
  get pendingFlips(): number {
    return this.#flips.pending;
  }

  /** Results of the flips since the last call. */
  takeResults(): ReturnType<FlipTracker['results']> {
    const results = this.#flips.results();
    this.#flips = new FlipTracker();
    return results;
  }

  #observe(resource: 'endpoints' | 'endpointslices', type: string, object: WatchedObject): void {
    const at = performance.now();
    const event = eventOf(type, { ...object, kind: resource === 'endpoints' ? 'Endpoints' : 'EndpointSlice' });
    if (!this.#convergence.complete) this.#convergence.observe(event);
    if (event.from === 'endpoints') return;
    for (const { name, ready } of event.pods) if (this.#flips.shown(name, ready, at)) this.#pool.release(name);
  }

  get shape(): Shape {
    return this.#shape;
  }
}
