import type { FakeApiServer, StoredObject } from '@sluice/fake-apiserver';
import type { RawObject } from '@sluice/kubernetes';
import { asRecord, type Random } from '@sluice/platform';
import type { Action } from '../harness/random-user.ts';

const finalizer = 'example.org/hold';
const serviceNames = ['web', 'db', 'mail', 'all'];
/** A link-local address, which slices and Endpoints must not contain: the API server refuses them. */
export const unusableAddress = '169.254.7.7';
const appProtocols = ['kubernetes.io/h2c', 'https'];

/** What users, operators and controllers of other projects do less often, and what each production cluster has. */
export function uncommonInputs(server: FakeApiServer, random: Random, namespace: string): readonly Action[] {
  const pick = <T>(from: readonly T[]): T => {
    const chosen = from[Math.floor(random.next() * from.length)];
    if (chosen === undefined) throw new RangeError('cannot pick from an empty list');
    return chosen;
  };
  const any = (resource: 'services' | 'pods' | 'endpoints' | 'endpointslices'): StoredObject | undefined => {
    const found = server.list(resource).items.filter(({ metadata }) => metadata.namespace === namespace);
    return found.length === 0 ? undefined : pick(found);
  };
  const editPod = (edit: (pod: StoredObject) => RawObject) => {
    const pod = any('pods');
    if (pod !== undefined) server.put('pods', edit(pod));
  };
  const withSpec = (object: StoredObject, spec: object): RawObject => ({
    ...object,
    spec: { ...asRecord(object.spec), ...spec },
  });
  const withStatus = (object: StoredObject, status: object): RawObject => ({
    ...object,
    status: { ...asRecord(object.status), ...status },
  });
  const withMetadata = (object: StoredObject, metadata: object): RawObject => ({
    ...object,
    metadata: { ...object.metadata, ...metadata },
  });
  return [
    {
      weight: 3,
      run: () => {
        // A StatefulSet gives its Pods hostnames below its governing Service.
        editPod((pod) => withSpec(pod, { hostname: pod.metadata.name, subdomain: pick([...serviceNames, '']) }));
      },
    },
    {
      weight: 4,
      run: () => {
        // A Pod moves to another Service, or out of all.
        editPod((pod) => {
          const app = pick([{ app: 'web' }, { app: 'db' }, { app: 'mail' }, {}]);
          return withMetadata(pod, { labels: { ...app, ...(random.next() < 0.4 && { tier: 'front' }) } });
        });
      },
    },
    {
      weight: 1,
      run: () => editPod((pod) => withStatus(pod, { phase: pick(['Running', 'Failed', 'Pending']) })),
    },
    {
      weight: 2,
      run: () => {
        // The sandbox of a Pod is recreated with another address.
        const ip = `10.2.${Math.floor(random.next() * 256)}.${Math.floor(random.next() * 256)}`;
        editPod((pod) => withStatus(pod, { podIP: ip, podIPs: [{ ip }] }));
      },
    },
    {
      weight: 1,
      run: () => editPod((pod) => withStatus(pod, { podIP: unusableAddress, podIPs: [{ ip: unusableAddress }] })),
    },
    {
      weight: 2,
      run: () => {
        const resource = pick(['services', 'pods', 'endpoints'] as const);
        const object = any(resource);
        if (object === undefined) return;
        const held = (object.metadata.finalizers ?? []).length > 0;
        if (held) return void server.update(resource, withMetadata(object, { finalizers: [] }));
        server.update(resource, withMetadata(object, { finalizers: [finalizer] }));
        server.delete(resource, namespace, object.metadata.name);
      },
    },
    {
      weight: 2,
      run: () => {
        // `kubectl replace --force`: another Service under the same name, selecting the same Pods.
        const service = any('services');
        if (service === undefined) return;
        const { name, labels, annotations } = service.metadata;
        const { clusterIP: _ip, clusterIPs: _ips, ...spec } = asRecord(service.spec);
        server.delete('services', namespace, name);
        server.create('services', { metadata: { name, namespace, labels, annotations }, spec });
      },
    },
    {
      weight: 2,
      run: () => {
        const service = any('services');
        if (service === undefined) return;
        const port = { name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' };
        const ports = pick([
          [{ ...port, appProtocol: pick(appProtocols) }],
          [port, { name: 'dns', port: 53, targetPort: 8080, protocol: 'UDP' }],
          [{ ...port, targetPort: 'missing' }],
          [{ port: 80, targetPort: 'http', protocol: 'TCP' }],
        ]);
        server.update('services', withSpec(service, { ports }));
      },
    },
    {
      weight: 3,
      run: () => {
        const service = any('services');
        if (service === undefined) return;
        const { name } = service.metadata;
        const old = server
          .list('endpoints')
          .items.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
        // No API server takes a deletion back.
        if (old?.metadata.deletionTimestamp !== undefined) return;
        const target = { kind: 'Pod', namespace, name: 'external-0', uid: `${name}-external` };
        const address = (n: number) => ({
          ip: `198.51.100.${n}`,
          ...pick([{}, { hostname: `h${n}` }, { nodeName: 'n1' }, { targetRef: target }]),
        });
        const port = { name: 'http', port: 80, protocol: 'TCP' };
        server.put('endpoints', {
          metadata: { name, namespace, annotations: pick([{}, { team: 'x' }, { team: 'y' }]) },
          subsets: [
            { addresses: [address(1)], notReadyAddresses: [address(2)], ports: [port] },
            ...(random.next() < 0.5 ? [{ addresses: [address(3)], ports: [{ ...port, name: 'tls', port: 443 }] }] : []),
          ],
        });
      },
    },
    {
      weight: 1,
      run: () => {
        // A controller of others adds a finalizer to a slice, so that its deletion takes two steps.
        const slice = any('endpointslices');
        if (slice === undefined) return;
        const held = (slice.metadata.finalizers ?? []).length > 0;
        server.update('endpointslices', withMetadata(slice, { finalizers: held ? [] : [finalizer] }));
      },
    },
  ];
}

/** Whether something holds the deletion of an object back, or a Pod has an address that no slice may have. */
export const isUnfinished = ({ metadata, status }: StoredObject): boolean =>
  (metadata.finalizers ?? []).length > 0 || asRecord(status).podIP === unusableAddress;

/** Removes the finalizers of all objects, whatever holds them has finished, and gives Pods usable addresses. */
export function finishInputs(server: FakeApiServer): void {
  for (const resource of ['services', 'pods', 'endpoints', 'endpointslices'] as const)
    for (const object of server.list(resource).items)
      if ((object.metadata.finalizers ?? []).includes(finalizer))
        server.update(resource, { ...object, metadata: { ...object.metadata, finalizers: [] } });
  for (const [i, pod] of server.list('pods').items.entries()) {
    const status = asRecord(pod.status);
    const ip = `10.3.0.${i + 1}`;
    if (status.podIP === unusableAddress)
      server.put('pods', { ...pod, status: { ...status, podIP: ip, podIPs: [{ ip }] } });
  }
}
