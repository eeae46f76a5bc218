import { formatServiceKey, isServiceKey } from '@sluice/messages';
import type { SimulatedStore } from '../doubles/simulated-store.ts';
import type { ClusterView } from '../reference/cluster-view.ts';
import { knownFields, knownWritten, storedField } from '../reference/known-service.ts';
import { serviceNameLabel } from '../reference/objects.ts';
import type { SimulatedCluster } from '../simulated-cluster.ts';
import type { ReplacedValues } from './replaced-values.ts';

type Fields = Map<string, unknown>;

/** Stands for a stored value that its owner does not use: it has another one in memory. */
const unread = Symbol();

/**
 * Once a run has converged, what reconcilers know of each Service equals the objects of its cluster, field by field. Returns the first
 * difference; undefined if there is none.
 */
export function unknownObject(
  store: SimulatedStore,
  clusters: readonly SimulatedCluster[],
  replaced: ReplacedValues,
): string | undefined {
  const known = storedServices(store, replaced);
  for (const { identity, name: clusterName, view } of clusters) {
    for (const [namespace, name] of servicesOf(view)) {
      const expected = knownFields(view, namespace, name);
      const key = formatServiceKey({ cluster: identity, namespace, service: name });
      const stored: Fields = known.get(key) ?? new Map();
      for (const field of new Set([...expected.keys(), ...stored.keys()])) {
        // Trigger times of a Service without a selector mean nothing.
        if (field.endsWith(':triggers') && !expected.has(field)) continue;
        if (stored.get(field) === unread) continue;
        const value = expected.get(field) ?? (field.startsWith('controller/') ? {} : undefined);
        const remembered = replaced.remembered(key, field, value);
        const [wanted, found, kept] = [value, stored.get(field), remembered].map((one) => JSON.stringify(one));
        if (wanted !== found && kept !== found)
          return `${field} of ${clusterName} ${namespace}/${name} is known as ${found}, and is ${wanted}`;
      }
    }
  }
  return undefined;
}

/** What is stored about objects, by Service and field. */
function storedServices(store: SimulatedStore, replaced: ReplacedValues): ReadonlyMap<string, Fields> {
  const services = new Map<string, Fields>();
  for (const scope of store.scopes) {
    if (!scope.startsWith('reconciler/')) continue;
    for (const [entry, json] of store.entries(scope)) {
      const [key = '', field = ''] = entry.split('\n');
      if (!isServiceKey(key)) continue;
      const fields = services.get(key) ?? new Map<string, unknown>();
      services.set(key, fields);
      const written = /^(endpoints|slice\/.*):object$/.exec(field)?.[1];
      if (replaced.isUnread(scope, entry, json)) fields.set(written ?? field, unread);
      else if (written !== undefined) fields.set(written, knownWritten(JSON.parse(json)));
      else if (/^(?:service|topology|pod\/.*|controller\/[a-z]+(?::triggers)?)$/.test(field))
        fields.set(field, storedField(field, JSON.parse(json)));
    }
  }
  return services;
}

/** Names with a Service, Endpoints or slices. */
export function servicesOf(view: ClusterView): readonly (readonly [namespace: string, name: string])[] {
  const names = new Map<string, readonly [string, string]>();
  const add = (namespace = '', name = '') => names.set(`${namespace}/${name}`, [namespace, name]);
  for (const resource of ['services', 'endpoints'] as const)
    for (const { metadata } of view.all(resource)) add(metadata.namespace, metadata.name);
  for (const { metadata } of view.all('endpointslices')) {
    const name = metadata.labels?.[serviceNameLabel];
    if (name !== undefined && name !== '') add(metadata.namespace, name);
  }
  return [...names.values()];
}
