import type { FakeApiServer, ResourceName, StoredObject } from '@sluice/fake-apiserver';

export interface ObservedWrite {
  readonly verb: 'create' | 'update' | 'delete';
  readonly resource: ResourceName;
  readonly namespace: string;
  readonly name: string;
  /** Undefined for a create. */
  readonly before: StoredObject | undefined;
  /** The stored object; for a delete, its last state. */
  readonly after: StoredObject;
}

const writes = new Set(['create', 'update', 'delete']);

/**
 * The server for one of its clients. Reports each effective write of that client, but not those of users and of the
 * garbage collector. `onRequest` is called before each request for a single object and may throw.
 */
export function observeWrites(
  server: FakeApiServer,
  onWrite: (write: ObservedWrite) => void,
  onRequest: () => void,
): FakeApiServer {
  let writing = false;
  server.onCommit((resource, { type, object, previous }) => {
    if (!writing) return;
    const verb = type === 'ADDED' ? 'create' : type === 'DELETED' ? 'delete' : 'update';
    const { namespace = '', name } = object.metadata;
    onWrite({ verb, resource, namespace, name, before: previous, after: object });
  });
  return new Proxy(server, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function') return value;
      if (property !== 'get' && !writes.has(String(property))) return value.bind(target);
      return (...given: unknown[]) => {
        onRequest();
        writing = property !== 'get';
        try {
          return value.apply(target, given);
        } finally {
          writing = false;
        }
      };
    },
  });
}
