import type { ApiClient } from '@sluice/conformance';
import * as objects from '@sluice/conformance';
import { type Random, randomInteger } from '@sluice/platform';
import { isObject, type Json, type JsonObject, listAt, objectAt, textAt } from '@sluice/shadow';
import { readyPods } from '../audit/write.ts';

export const steadyNamespace = 'steady';
const node = 'steady-node';
const serviceCount = 16;
/** Per Service, always ready. */
const alwaysReadyCount = 3;
/** Per Service, ready or not. */
const flippingCount = 8;
const since = () => new Date().toISOString().replace(/\.\d+Z$/, 'Z');

interface FlippingPod {
  readonly name: string;
  readonly service: string;
  readonly ip: string;
  /** Whether recovery is measured with this Pod. It then changes only after its last change was observed. */
  readonly probe: boolean;
  ready: boolean;
  busy: boolean;
}

/** Records changes for the measurement of recovery times. */
export interface FlipProbe {
  isPending(pod: string): boolean;
  flipped(pod: string, ready: boolean): void;
}

/**
 * Services in which only the readiness of some Pods changes, so that the expected EndpointSlices and Endpoints are
 * known without a controller.
 */
export class SteadyServices {
  readonly alwaysReady = new Map<string, readonly string[]>();
  readonly #client: ApiClient;
  readonly #random: Random;
  readonly #flipping: FlippingPod[] = [];
  readonly #network: string;

  /** Each cluster has other Pods of its own in Services of the same names. */
  constructor(client: ApiClient, random: Random, cluster: { readonly name: string; readonly number: number }) {
    this.#client = client;
    this.#random = random;
    this.#network = `10.${100 + cluster.number}`;
    for (let s = 1; s <= serviceCount; s++) {
      const service = `web-${s}`;
      this.alwaysReady.set(
        service,
        Array.from({ length: alwaysReadyCount }, (_, n) => `${cluster.name}-${service}-rock-${n}`),
      );
      for (let n = 0; n < flippingCount; n++) {
        this.#flipping.push({
          name: `${cluster.name}-${service}-flip-${n}`,
          service,
          ip: `${this.#network}.${s}.${100 + n}`,
          probe: n % 2 === 0,
          ready: true,
          busy: false,
        });
      }
    }
  }

  /** All Pods of these Services. */
  get pods(): ReadonlySet<string> {
    return new Set([...[...this.alwaysReady.values()].flat(), ...this.#flipping.map(({ name }) => name)]);
  }

  async create(): Promise<void> {
    await this.#client.create('namespaces', objects.namespaceObject(steadyNamespace));
    await this.#client.create('nodes', objects.nodeObject({ name: node, zone: 'a' }));
    for (const [service, alwaysReady] of this.alwaysReady) {
      const spec = { selector: { app: service }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] };
      await this.#client.create('services', objects.serviceObject({ namespace: steadyNamespace, name: service, spec }));
      const number = service.slice(service.lastIndexOf('-') + 1);
      const flipping = this.#flipping.filter((pod) => pod.service === service);
      await Promise.all([
        ...alwaysReady.map((name, n) => this.#createPod(name, service, `${this.#network}.${number}.${n + 1}`)),
        ...flipping.map(({ name, ip }) => this.#createPod(name, service, ip)),
      ]);
    }
  }

  /** Flips the readiness of a random Pod, except those whose last change is pending. */
  async flip(measured: FlipProbe): Promise<void> {
    const free = this.#flipping.filter(({ busy, probe, name }) => !busy && !(probe && measured.isPending(name)));
    const pod = free[randomInteger(this.#random, 0, free.length - 1)];
    if (pod === undefined) return;
    pod.busy = true;
    try {
      await this.#report(pod.name, pod.ip, !pod.ready);
      pod.ready = !pod.ready;
      if (pod.probe) measured.flipped(pod.name, pod.ready);
    } finally {
      pod.busy = false;
    }
  }

  /** Returns a line for each Service whose EndpointSlices or Endpoints differ from the expected ones. */
  async differences(): Promise<readonly string[]> {
    const [slices, endpoints] = await Promise.all([
      this.#client.list('endpointslices'),
      this.#client.list('endpoints'),
    ]);
    const own = (all: readonly JsonObject[]) =>
      all.filter(({ metadata }) => textAt(metadata, 'namespace') === steadyNamespace);
    return [...this.alwaysReady].flatMap(([service, alwaysReady]) => {
      const flipping = this.#flipping.filter((pod) => pod.service === service);
      const ready = [...alwaysReady, ...flipping.filter((pod) => pod.ready).map(({ name }) => name)].sort().join(' ');
      const all = alwaysReady.length + flipping.length;
      const ofService = own(slices).filter(
        ({ metadata }) => textAt(objectAt(metadata, 'labels'), 'kubernetes.io/service-name') === service,
      );
      const ofName = own(endpoints).filter(({ metadata }) => textAt(metadata, 'name') === service);
      return [
        ...compare(`EndpointSlices of ${service}`, ofService, countSlice, ready, all),
        ...compare(`Endpoints ${service}`, ofName, countEndpoints, ready, all),
      ];
    });
  }

  async #createPod(name: string, service: string, ip: string): Promise<void> {
    const labels = { app: service };
    await this.#client.create('pods', objects.podObject({ namespace: steadyNamespace, name, labels, nodeName: node }));
    await this.#report(name, ip, true);
  }

  async #report(name: string, ip: string, ready: boolean): Promise<void> {
    const status = objects.podStatus({ phase: 'Running', ips: [ip], ready, since: since() });
    await this.#client.patch({ resource: 'pods', namespace: steadyNamespace, name }, status, 'status');
  }
}

function compare(
  what: string,
  found: readonly JsonObject[],
  count: (object: JsonObject) => number,
  wanted: string,
  all: number,
): string[] {
  const [object, ...more] = found;
  if (object === undefined || more.length > 0) return [`${what}: found ${found.length} objects instead of 1`];
  const ready = [...readyPods(object)].sort().join(' ');
  if (ready !== wanted) return [`${what}: ready Pods are ${ready} instead of ${wanted}`];
  return count(object) === all ? [] : [`${what}: ${count(object)} endpoints instead of ${all}`];
}

const countSlice = (slice: Json): number => listAt(slice, 'endpoints').length;
const countEndpoints = (endpoints: Json): number =>
  listAt(endpoints, 'subsets').reduce<number>(
    (sum, subset) =>
      sum + (isObject(subset) ? listAt(subset, 'addresses').length + listAt(subset, 'notReadyAddresses').length : 0),
    0,
  );
