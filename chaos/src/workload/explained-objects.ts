import type { ApiClient } from '@sluice/conformance';
import * as objects from '@sluice/conformance';
import { type Random, randomInteger } from '@sluice/platform';
import type { Json, JsonObject } from '@sluice/shadow';

const namespace = 'explained';
const node = 'explained-node';
const serviceCount = 6;

/**
 * Services, Pods and a Node with fields that explain something but decide nothing: traffic policies, crashes, Pods without a Node,
 * a cordon. Versions of Sluice differ in which of them they publish and keep.
 */
export class ExplainedObjects {
  changes = 0;
  readonly #client: ApiClient;
  readonly #random: Random;
  readonly #fail: (error: unknown) => void;
  readonly #network: string;
  #timer: NodeJS.Timeout | undefined;
  #underWay: Promise<void> | undefined;

  constructor(client: ApiClient, random: Random, fail: (error: unknown) => void, number: number) {
    this.#client = client;
    this.#random = random;
    this.#fail = fail;
    this.#network = `10.${200 + number}`;
  }

  async create(): Promise<void> {
    await this.#client.create('namespaces', objects.namespaceObject(namespace));
    await this.#client.create('nodes', objects.nodeObject({ name: node, zone: 'a' }));
    for (let s = 1; s <= serviceCount; s++) {
      const name = `api-${s}`;
      const labels = { app: name };
      const spec = {
        selector: labels,
        ports: [{ port: 80 }],
        internalTrafficPolicy: s % 2 === 0 ? 'Local' : 'Cluster',
      };
      await this.#client.create('services', objects.serviceObject({ namespace, name, spec }));
      for (const [pod, nodeName] of [
        ['ready', node],
        ['crashing', node],
        ['unscheduled', ''],
      ] as const) {
        await this.#client.create('pods', objects.podObject({ namespace, name: `${name}-${pod}`, labels, nodeName }));
      }
      await this.#report(`${name}-ready`, running(`${this.#network}.${s}.1`, 'True'));
      await this.#crash(s, 1);
      await this.#waitForNode(s, 1);
    }
  }

  start(perSecond: number): void {
    this.#timer = setInterval(() => {
      // One at a time: an API server that is slow gets fewer.
      this.#underWay ??= this.#change()
        .catch(this.#fail)
        .finally(() => {
          this.#underWay = undefined;
        });
    }, 1_000 / perSecond);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#underWay;
  }

  async #change(): Promise<void> {
    const service = randomInteger(this.#random, 1, serviceCount);
    const number = randomInteger(this.#random, 1, 1_000);
    switch (randomInteger(this.#random, 1, 4)) {
      case 1:
        await this.#crash(service, number);
        break;
      case 2:
        await this.#waitForNode(service, number);
        break;
      case 3: {
        const internalTrafficPolicy = number % 2 === 0 ? 'Local' : 'Cluster';
        const reference = { resource: 'services', namespace, name: `api-${service}` } as const;
        await this.#client.patch(reference, { spec: { internalTrafficPolicy } });
        break;
      }
      case 4:
        await this.#client.patch({ resource: 'nodes', name: node }, { spec: { unschedulable: number % 2 === 0 } });
        break;
    }
    this.changes++;
  }

  #crash(service: number, restartCount: number): Promise<void> {
    const state = { waiting: { reason: 'CrashLoopBackOff' } };
    return this.#report(`api-${service}-crashing`, {
      ...running(`${this.#network}.${service}.2`, 'False'),
      containerStatuses: [{ name: 'main', image: 'main', imageID: '', ready: false, restartCount, state }],
    });
  }

  #waitForNode(service: number, nodes: number): Promise<void> {
    const why = { reason: 'Unschedulable', message: `0/${nodes} nodes are available` };
    return this.#report(`api-${service}-unscheduled`, { conditions: [condition('PodScheduled', 'False', why)] });
  }

  async #report(name: string, status: JsonObject): Promise<void> {
    await this.#client.patch({ resource: 'pods', namespace, name }, { status }, 'status');
  }
}

const running = (ip: string, ready: string): JsonObject => ({
  phase: 'Running',
  podIP: ip,
  podIPs: [{ ip }],
  conditions: [condition('Ready', ready)],
});

const condition = (type: string, status: string, why: Readonly<Record<string, Json>> = {}): JsonObject => ({
  type,
  status,
  lastTransitionTime: '2026-01-01T00:00:00Z',
  ...why,
});
