import type { ApiClient } from '@sluice/conformance';
import * as objects from '@sluice/conformance';
import { type Random, randomInteger } from '@sluice/runtime';
import { isObject, type Json, type JsonObject, listAt, objectAt, textAt } from '@sluice/shadow';
import { readyPods } from '../accounts/write.ts';

export const steadyNamespace = 'steady';
const node = 'steady-node';
const serviceCount = 16;
/** Of each Service: ready all the time. */
const rockCount = 3;
/** Of each Service: ready or not. */
const flippingCount = 8;
const since = () => new Date().toISOString().replace(/\.\d+Z$/, 'Z');

interface FlippingPod {
  readonly name: string;
  readonly service: string;
  readonly ip: string;
  /** How long its changes take is measured: it changes only when its last change has been read. */
  readonly probe: boolean;
  ready: boolean;
  busy: boolean;
}

/** Changes that are measured. */
export interface Measured {
  isOpen(pod: string): boolean;
  flipped(pod: string, ready: boolean): void;
}

/**
 * Services of whose Pods some flip and all others stay as they are. What their EndpointSlices and Endpoints should be is
 * known here without any controller.
 */
export class SteadyServices {
  readonly rocks = new Map<string, readonly string[]>();
  readonly #client: ApiClient;
  readonly #random: Random;
  readonly #flipping: FlippingPod[] = [];

  constructor(client: ApiClient, random: Random) {
    this.#client = client;
    this.#random = random;
    for (let s = 1; s <= serviceCount; s++) {
      const service = `web-${s}`;
      this.rocks.set(
        service,
        Array.from({ length: rockCount }, (_, n) => `${service}-rock-${n}`),
      );
      for (let n = 0; n < flippingCount; n++) {
        this.#flipping.push({
          name: `${service}-flip-${n}`,
          service,
          ip: `10.9.${s}.${100 + n}`,
          probe: n % 2 === 0,
          ready: true,
          busy: false,
        });
      }
    }
  }

  async create(): Promise<void> {
    await this.#client.create('namespaces', objects.namespaceObject(steadyNamespace));
    await this.#client.create('nodes', objects.nodeObject({ name: node, zone: 'a' }));
    for (const [service, rocks] of this.rocks) {
      const spec = { selector: { app: service }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] };
      await this.#client.create('services', objects.serviceObject({ namespace: steadyNamespace, name: service, spec }));
      const number = service.slice(service.lastIndexOf('-') + 1);
      const flipping = this.#flipping.filter((pod) => pod.service === service);
      await Promise.all([
        ...rocks.map((name, n) => this.#createPod(name, service, `10.9.${number}.${n + 1}`)),
        ...flipping.map(({ name, ip }) => this.#createPod(name, service, ip)),
      ]);
    }
  }

  /** Turns the readiness of some Pod, but not of one whose last change is still measured, if there is one to turn. */
  async flip(measured: Measured): Promise<void> {
    const free = this.#flipping.filter(({ busy, probe, name }) => !busy && !(probe && measured.isOpen(name)));
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

  /** A line for each Service whose EndpointSlices or Endpoints are not what they should be. */
  async wrong(): Promise<readonly string[]> {
    const [slices, endpoints] = await Promise.all([
      this.#client.list('endpointslices'),
      this.#client.list('endpoints'),
    ]);
    const own = (all: readonly JsonObject[]) =>
      all.filter(({ metadata }) => textAt(metadata, 'namespace') === steadyNamespace);
    return [...this.rocks].flatMap(([service, rocks]) => {
      const flipping = this.#flipping.filter((pod) => pod.service === service);
      const ready = [...rocks, ...flipping.filter((pod) => pod.ready).map(({ name }) => name)].sort().join(' ');
      const all = rocks.length + flipping.length;
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
  if (object === undefined || more.length > 0) return [`${what}: there are ${found.length}`];
  const ready = [...readyPods(object)].sort().join(' ');
  if (ready !== wanted) return [`${what}: ready are ${ready}; should be ${wanted}`];
  return count(object) === all ? [] : [`${what}: ${count(object)} endpoints instead of ${all}`];
}

const countSlice = (slice: Json): number => listAt(slice, 'endpoints').length;
const countEndpoints = (endpoints: Json): number =>
  listAt(endpoints, 'subsets').reduce<number>(
    (sum, subset) =>
      sum + (isObject(subset) ? listAt(subset, 'addresses').length + listAt(subset, 'notReadyAddresses').length : 0),
    0,
  );
