import type { FakeApiServer, ResourceName } from '@sluice/fake-apiserver';
import type { RawObject } from '@sluice/kubernetes';
import { asRecord } from '@sluice/platform';

/** The server for clients whose resourceVersions it ignores. UIDs still count. */
export function withoutPreconditions(server: FakeApiServer): FakeApiServer {
  return new Proxy(server, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function') return value;
      if (property === 'update') {
        return (resource: ResourceName, object: RawObject) => {
          const { resourceVersion: _, ...metadata } = asRecord(object.metadata);
          return target.update(resource, { ...object, metadata });
        };
      }
      if (property === 'delete') {
        return (resource: ResourceName, namespace: string, name: string, { uid }: { uid?: string } = {}) =>
          target.delete(resource, namespace, name, uid === undefined ? {} : { uid });
      }
      return value.bind(target);
    },
  });
}
