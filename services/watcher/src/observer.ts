import {
  MalformedObjectError,
  projectEndpointSlice,
  projectEndpoints,
  projectNode,
  projectPod,
  projectService,
} from '@sluice/controllers';
import type { RawObject, Resource } from '@sluice/kubernetes';
import type { Cause } from '@sluice/messages';
import { describeChange, describeNodeChange, describePodChange } from './describe.ts';
import { type Inventory, type ObjectName, objectName, serviceOfSlice, type WatchedPod } from './inventory.ts';
import type { Router } from './router.ts';

/** One object of a list or watch, reduced to what Sluice needs. */
export interface Observed {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  /** Hands the object on; undefined if it is malformed, in which case what was known of it stays. */
  readonly present: ((to: Observer, at: number) => void) | undefined;
}

interface Name {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Projects an object as soon as it is parsed, so that the rest of it need not be held. `onMalformed` is told of an
 * object that cannot be read; its name is kept, so that its deletion is still understood.
 */
export function observe(resource: Resource, raw: RawObject, onMalformed: (why: string) => void): Observed {
  const metadata = (raw.metadata ?? {}) as Readonly<Record<string, unknown>>;
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  const base = {
    namespace: text(metadata.namespace),
    name: text(metadata.name),
    resourceVersion: text(metadata.resourceVersion),
  };
  try {
    return { ...base, present: projections[resource](raw) };
  } catch (error) {
    if (!(error instanceof MalformedObjectError)) throw error;
    onMalformed(error.message);
    return { ...base, present: undefined };
  }
}

const projections: Readonly<Record<Resource, (raw: RawObject) => (to: Observer, at: number) => void>> = {
  services(raw) {
    const service = projectService(raw);
    return ({ inventory, router }, at) => {
      const existed = inventory.services.has(objectName(service.namespace, service.name));
      router.service(service.namespace, service.name, service, cause(at, 'Service', service, describeChange(existed)));
    };
  },
  pods(raw) {
    const next = projectPod(raw);
    const { namespace, name } = next.pod;
    return ({ inventory, router }, at) => {
      const old = inventory.pod(namespace, name);
      if (old !== undefined && samePod(old, next)) return;
      router.pod(namespace, name, next, cause(at, 'Pod', next.pod, describePodChange(old?.pod, next.pod)));
    };
  },
  nodes(raw) {
    const node = projectNode(raw);
    return ({ inventory, router }, at) => {
      const what = describeNodeChange(inventory.nodes.get(node.name), node);
      router.node(node.name, node, cause(at, 'Node', { namespace: '', name: node.name }, what));
    };
  },
  endpoints(raw) {
    const endpoints = projectEndpoints(raw);
    const { namespace, name } = endpoints.metadata;
    return ({ inventory, router }, at) => {
      const existed = inventory.endpoints.has(objectName(namespace, name));
      router.endpoints(namespace, name, endpoints, cause(at, 'Endpoints', endpoints.metadata, describeChange(existed)));
    };
  },
  endpointslices(raw) {
    const slice = projectEndpointSlice(raw);
    const { namespace, name } = slice.metadata;
    return ({ inventory, router }, at) => {
      const existed = inventory.slice(namespace, name) !== undefined;
      if (!existed && serviceOfSlice(slice) === undefined) return;
      router.slice(namespace, name, slice, cause(at, 'EndpointSlice', slice.metadata, describeChange(existed)));
    };
  },
};

/** Compares what comes with what is known, and hands it to the router with the reason in words. */
export class Observer {
  readonly inventory: Inventory;
  readonly router: Router;

  constructor(inventory: Inventory, router: Router) {
    this.inventory = inventory;
    this.router = router;
  }

  /** An object of this name is no more. */
  absent(resource: Resource, { namespace, name }: Name, at: number): void {
    const gone = (kind: string) => cause(at, kind, { namespace, name }, 'deleted');
    switch (resource) {
      case 'services':
        return this.router.service(namespace, name, undefined, gone('Service'));
      case 'pods':
        return this.router.pod(namespace, name, undefined, gone('Pod'));
      case 'nodes':
        return this.router.node(name, undefined, gone('Node'));
      case 'endpoints':
        return this.router.endpoints(namespace, name, undefined, gone('Endpoints'));
      case 'endpointslices':
        return this.router.slice(namespace, name, undefined, gone('EndpointSlice'));
    }
  }

  /** Names of all objects of the resource that are known. */
  known(resource: Resource): Set<ObjectName> {
    const { inventory } = this;
    switch (resource) {
      case 'services':
        return new Set(inventory.services.keys());
      case 'pods':
        return new Set(inventory.podNames);
      case 'nodes':
        return new Set([...inventory.nodes.keys()].map((name) => objectName('', name)));
      case 'endpoints':
        return new Set(inventory.endpoints.keys());
      case 'endpointslices':
        return new Set(inventory.sliceNames);
    }
  }
}

function cause(at: number, kind: string, { namespace, name }: Name, what: string): Cause {
  return { description: `${kind} ${namespace === '' ? name : `${namespace}/${name}`} ${what}`, observedAt: at };
}

/** Most Pod updates (annotations, container statuses, other conditions) change nothing that endpoints depend on. */
function samePod(a: WatchedPod, b: WatchedPod): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
