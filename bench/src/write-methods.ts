import { encodeObject, protobufMediaType } from '@sluice/kubernetes/protobuf';
import type { WrittenResource } from '@sluice/model';

/** An object of which each write flips one endpoint. */
export interface Flip {
  readonly resource: WrittenResource;
  readonly collection: string;
  readonly path: string;
  /** The object after the next write. */
  object(): object;
  /** The same write as JSON patch operations. */
  operations(): readonly object[];
  readonly resourceVersion: string;
  /** Called when the write is stored. */
  done(resourceVersion: string): void;
}

/** A write method. */
export interface WriteMethod {
  readonly name: string;
  request(flip: Flip): {
    readonly method: 'PUT' | 'PATCH';
    readonly body: unknown;
    readonly headers: Readonly<Record<string, string>>;
    /** Appended to the path. */
    readonly query?: string;
  };
}

const whole = { accept: 'application/json' };
const metadata = { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' };
const patch = (type: string) => ({ ...metadata, 'content-type': `application/${type}` });

export const writeMethods: readonly WriteMethod[] = [
  {
    name: 'update, whole object as response',
    request: (flip) => ({ method: 'PUT', body: flip.object(), headers: whole }),
  },
  {
    name: 'update, metadata as response',
    request: (flip) => ({ method: 'PUT', body: flip.object(), headers: metadata }),
  },
  {
    name: 'update in protobuf, metadata',
    request: (flip) => ({
      method: 'PUT',
      body: encodeObject(flip.resource, flip.object()),
      headers: { ...metadata, 'content-type': protobufMediaType },
    }),
  },
  {
    name: 'merge patch, metadata as response',
    request: (flip) => ({ method: 'PATCH', body: flip.object(), headers: patch('merge-patch+json') }),
  },
  {
    name: 'JSON patch, metadata as response',
    request: (flip) => ({
      method: 'PATCH',
      // The precondition of an update.
      body: [{ op: 'test', path: '/metadata/resourceVersion', value: flip.resourceVersion }, ...flip.operations()],
      headers: patch('json-patch+json'),
    }),
  },
  {
    name: 'apply, metadata as response',
    request: (flip) => ({
      method: 'PATCH',
      body: flip.object(),
      headers: patch('apply-patch+yaml'),
      query: '?fieldManager=sluice-bench&force=true',
    }),
  },
];

/** Slices, or Endpoints, with the same number of endpoints each. */
export function flipsOf(kind: 'slice' | 'endpoints', count: number, endpoints: number): readonly Flip[] {
  return Array.from({ length: count }, (_, i) =>
    kind === 'slice' ? new SliceFlip(`slice-${endpoints}-${i}`, endpoints) : new EndpointsFlip(`ep-${i}`, endpoints),
  );
}

const targetRef = (i: number) => ({
  kind: 'Pod',
  namespace: 'default',
  name: `web-7d4b9c6f5d-${i.toString(36).padStart(5, 'x')}`,
  uid: `6f1c2d3e-0000-4000-8000-${String(i).padStart(12, '0')}`,
});
const address = (i: number) => `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;

abstract class Flipping implements Flip {
  abstract readonly resource: WrittenResource;
  readonly collection: string;
  readonly path: string;
  protected readonly name: string;
  protected ready = true;
  resourceVersion = '';

  constructor(collection: string, name: string) {
    this.collection = collection;
    this.path = `${collection}/${name}`;
    this.name = name;
  }

  done(resourceVersion: string): void {
    this.resourceVersion = resourceVersion;
    this.ready = !this.ready;
  }

  protected metadata(labels: Readonly<Record<string, string>>): object {
    const version = this.resourceVersion === '' ? {} : { resourceVersion: this.resourceVersion };
    return { name: this.name, namespace: 'default', labels, ...version };
  }

  abstract object(): object;
  abstract operations(): readonly object[];
}

const flipped = 7;
const endpoint = (i: number) => ({
  addresses: [address(i)],
  conditions: { ready: true, serving: true, terminating: false },
  nodeName: `node-${i % 10}`,
  zone: 'a',
  targetRef: targetRef(i),
});
const endpointsAddress = (i: number) => ({ ip: address(i), nodeName: `node-${i % 10}`, targetRef: targetRef(i) });

class SliceFlip extends Flipping {
  readonly resource = 'endpointslices';
  readonly #endpoints: readonly ReturnType<typeof endpoint>[];

  constructor(name: string, size: number) {
    super('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', name);
    this.#endpoints = Array.from({ length: size }, (_, i) => endpoint(i));
  }

  object(): object {
    return {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: this.metadata({ 'kubernetes.io/service-name': 'web' }),
      addressType: 'IPv4',
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      endpoints: this.#endpoints.map((one, i) => (i === flipped ? { ...one, conditions: this.#conditions() } : one)),
    };
  }

  operations(): readonly object[] {
    return [{ op: 'replace', path: `/endpoints/${flipped}/conditions`, value: this.#conditions() }];
  }

  #conditions() {
    return { ready: this.ready, serving: this.ready, terminating: false };
  }
}

class EndpointsFlip extends Flipping {
  readonly resource = 'endpoints';
  readonly #addresses: readonly ReturnType<typeof endpointsAddress>[];

  constructor(name: string, size: number) {
    super('/api/v1/namespaces/default/endpoints', name);
    this.#addresses = Array.from({ length: size }, (_, i) => endpointsAddress(i));
  }

  object(): object {
    const ports = [{ name: 'http', port: 8080, protocol: 'TCP' }];
    const addresses = this.#addresses;
    const others = addresses.filter((_, i) => i !== flipped);
    const subset = this.ready
      ? { addresses, ports }
      : { addresses: others, notReadyAddresses: [addresses[flipped]], ports };
    return { apiVersion: 'v1', kind: 'Endpoints', metadata: this.metadata({}), subsets: [subset] };
  }

  operations(): readonly object[] {
    const path = '/subsets/0';
    const at = `${path}/addresses/${flipped}`;
    return this.ready
      ? [
          { op: 'remove', path: `${path}/notReadyAddresses` },
          { op: 'add', path: at, value: this.#addresses[flipped] },
        ]
      : [
          { op: 'remove', path: at },
          { op: 'add', path: `${path}/notReadyAddresses`, value: [this.#addresses[flipped]] },
        ];
  }
}
