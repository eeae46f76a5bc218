import type { FakeApiServer, ResourceName, StoredObject } from '@sluice/fake-apiserver';

export interface SpiedWrite {
  readonly verb: 'create' | 'update' | 'delete';
  readonly resource: ResourceName;
  readonly namespace: string;
  readonly name: string;
  /** The object before the write; undefined if there was none. */
  readonly before: StoredObject | undefined;
  /** After it, or as it was last. */
  readonly after: StoredObject;
}

const writes = new Set(['create', 'update', 'delete']);

/**
 * The same server, for one of its clients: tells of each write of that client that changed something. Writes of users
 * and of the garbage collector go past it. `onRequest` comes before each read or write of one object, and may throw.
 */
export function spiedServer(
  server: FakeApiServer,
  onWrite: (write: SpiedWrite) => void,
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
