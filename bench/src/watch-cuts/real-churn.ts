import { Connection, loadKubeconfig } from '@sluice/kubernetes';
import type { ControlPlane } from '@sluice/local';
import { type Clock, type Random, randomInteger, silentLogger, sleep } from '@sluice/platform';
import { kubernetesTime } from '../populate.ts';
import { type BenchPod, benchPods, namespaceNames, namespaceObject, podObject } from '../shape.ts';
import type { Change } from './delivery-checker.ts';

interface Stored {
  readonly metadata: { readonly resourceVersion: string };
}

interface Event {
  readonly type: string;
  readonly object: Stored;
}

/** One namespace, because one watch delivers all changes. */
const shape = { services: 10, pods: 20, namespaces: 1 };
const [namespace = ''] = namespaceNames(shape);
const pods = `/api/v1/namespaces/${namespace}/pods`;

/**
 * Creates, deletes and flips Pods of a real API server, one after the other. Each response contains the resourceVersion, so
 * the history is known without a watch.
 */
export class RealChurn {
  readonly #connection: Connection;
  readonly #random: Random;
  readonly #clock: Clock;
  readonly #pods = benchPods(shape);
  /** With the resourceVersion of each Pod's last change. */
  readonly #there = new Map<string, string>();
  readonly #history: Change[] = [];
  #deletions = 0;

  private constructor(connection: Connection, random: Random, clock: Clock) {
    this.#connection = connection;
    this.#random = random;
    this.#clock = clock;
  }

  /** Creates all Pods. */
  static async open({ adminKubeconfig }: ControlPlane, random: Random, clock: Clock): Promise<RealChurn> {
    const access = await loadKubeconfig({ paths: [adminKubeconfig] });
    const connection = new Connection({ access, userAgent: 'sluice-bench-churn', clock, logger: silentLogger });
    const churn = new RealChurn(connection, random, clock);
    await churn.#send('POST', '/api/v1/namespaces', namespaceObject(namespace));
    for (const pod of churn.#pods) await churn.#create(pod);
    return churn;
  }

  get history(): readonly Change[] {
    return this.#history;
  }

  get deletions(): number {
    return this.#deletions;
  }

  async during(ms: number, changesPerSecond: number): Promise<void> {
    const end = this.#clock.monotonic() + ms;
    while (this.#clock.monotonic() < end) {
      await this.change();
      await sleep(this.#clock, 1_000 / changesPerSecond);
    }
  }

  async change(): Promise<void> {
    const pod = this.#pods[randomInteger(this.#random, 0, this.#pods.length - 1)];
    if (pod === undefined) return;
    if (!this.#there.has(pod.name)) return this.#create(pod);
    if (this.#random.next() < 0.3) {
      const options = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 };
      // The newest resourceVersion of the API server: a watch can start there even right after a restart.
      const since = await this.#send('GET', `${pods}?limit=1`);
      await this.#send('DELETE', `${pods}/${pod.name}`, options);
      for (const { type, object } of await this.#lastEvents(pod, since)) {
        this.#note(pod, object.metadata.resourceVersion, type === 'DELETED');
      }
      this.#there.delete(pod.name);
      this.#deletions++;
      return;
    }
    const object = podObject(pod, this.#random.next() < 0.5, this.#now());
    this.#note(pod, await this.#send('PUT', `${pods}/${pod.name}/status`, object), false);
  }

  close(): Promise<void> {
    return this.#connection.destroy();
  }

  async #create(pod: BenchPod): Promise<void> {
    this.#note(pod, await this.#send('POST', pods, podObject(pod, true, this.#now())), false);
  }

  /** A write that changes nothing returns the previous resourceVersion. */
  #note({ name }: BenchPod, resourceVersion: string, gone: boolean): void {
    const version = Number(resourceVersion);
    if (this.#there.get(name) === resourceVersion && !gone) return;
    this.#history.push({ version, name, objectVersion: gone ? undefined : resourceVersion });
    this.#there.set(name, resourceVersion);
  }

  /** Before it removes a Pod, the API server marks it deleted, under a resourceVersion that no response contains. */
  async #lastEvents({ name }: BenchPod, resourceVersion: string): Promise<readonly Event[]> {
    const query = new URLSearchParams({ watch: '1', fieldSelector: `metadata.name=${name}`, resourceVersion });
    const { signal } = new AbortController();
    const request = { method: 'GET', path: `${pods}?${query}`, signal, idleMs: 30_000 } as const;
    const { chunks } = await this.#connection.stream(request);
    const events: Event[] = [];
    let text = '';
    for await (const chunk of chunks) {
      const lines = (text + chunk.toString()).split('\n');
      text = lines.pop() ?? '';
      events.push(...lines.map((line): Event => JSON.parse(line)));
      if (events.at(-1)?.type === 'DELETED') return events;
    }
    throw new Error(`no DELETED event for Pod ${name}`);
  }

  #now(): string {
    return kubernetesTime(this.#clock.now());
  }

  async #send(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<string> {
    const { signal } = new AbortController();
    const { body: answer } = await this.#connection.request({ method, path, body, signal });
    return (answer as Stored).metadata.resourceVersion;
  }
}
