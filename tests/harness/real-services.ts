import { type ApiClient, namespaceObject, nodeObject, podObject, podStatus, serviceObject } from '@sluice/conformance';
import { isObject, type Json, type JsonObject, listAt, objectAt, textAt } from '@sluice/shadow';

/** Services and Pods on a real API server, and what their Endpoints and EndpointSlices must contain. */

const namespace = 'shop';
const node = 'node-1';

export async function createNamespace(user: ApiClient): Promise<void> {
  await user.create('namespaces', namespaceObject(namespace));
  await user.create('nodes', nodeObject({ name: node, zone: 'a' }));
}

/** A Service that selects the Pods with its name as label `app`. */
export async function createService(user: ApiClient, name: string): Promise<void> {
  const ports = [{ name: 'http', port: 80, targetPort: 8080 }];
  await user.create('services', serviceObject({ namespace, name, spec: { selector: { app: name }, ports } }));
}

export async function createPod(user: ApiClient, service: string, number: number): Promise<void> {
  const name = `${service}-${number}`;
  await user.create('pods', podObject({ namespace, name, labels: { app: service }, nodeName: node }));
  await setReady(user, service, number, true);
}

export async function setReady(user: ApiClient, service: string, number: number, ready: boolean): Promise<void> {
  const ips = [`10.${service.length}.${service.charCodeAt(0)}.${number + 1}`];
  const status = podStatus({ phase: 'Running', ips, ready, since: new Date().toISOString() });
  await user.patch({ resource: 'pods', namespace, name: `${service}-${number}` }, status, 'status');
}

export const deletePod = (user: ApiClient, service: string, number: number) =>
  user.delete({ resource: 'pods', namespace, name: `${service}-${number}` });

export const deleteService = (user: ApiClient, name: string) => user.delete({ resource: 'services', namespace, name });

/** The names of a Service's slices. */
export async function slicesOf(user: ApiClient, service: string): Promise<readonly string[]> {
  const slices = await user.list('endpointslices');
  return slices.filter((slice) => serviceOf(slice) === service).map(({ metadata }) => textAt(metadata, 'name'));
}

export const deleteSlice = (user: ApiClient, name: string) =>
  user.delete({ resource: 'endpointslices', namespace, name });

/**
 * A line for each Service whose slice or Endpoints differ from its Pods as the API server has them now, and for each
 * Endpoints without a Service. Slices without a Service are the garbage collector's, which does not run here.
 */
export async function wrongEndpoints(user: ApiClient): Promise<readonly string[]> {
  const { services, pods, endpoints, endpointslices } = await user.state();
  const own = (objects: readonly JsonObject[]) =>
    objects.filter(({ metadata }) => textAt(metadata, 'namespace') === namespace);
  const names = new Set(own(services).map(({ metadata }) => textAt(metadata, 'name')));
  const wanted = (service: string) =>
    own(pods)
      .filter(({ metadata }) => textAt(objectAt(metadata, 'labels'), 'app') === service)
      .map((pod) => `${textAt(pod.metadata, 'name')} ${textAt(pod.status, 'podIP')} ${isReady(pod)}`);
  const compare = (
    what: string,
    objects: readonly JsonObject[],
    content: (object: JsonObject) => string[],
    of: string,
  ) => {
    const [object, ...more] = objects;
    if (object === undefined || more.length > 0) return [`${what} of ${of}: ${objects.length} objects instead of 1`];
    const [found, expected] = [content(object).sort().join(', '), wanted(of).sort().join(', ')];
    return found === expected ? [] : [`${what} of ${of}: ${found} instead of ${expected}`];
  };
  const nameOf = ({ metadata }: JsonObject) => textAt(metadata, 'name');
  return [
    ...[...names].flatMap((service) => [
      ...compare(
        'slices',
        own(endpointslices).filter((slice) => serviceOf(slice) === service),
        sliceContent,
        service,
      ),
      ...compare(
        'Endpoints',
        own(endpoints).filter((object) => nameOf(object) === service),
        endpointsContent,
        service,
      ),
    ]),
    ...own(endpoints).flatMap((object) =>
      names.has(nameOf(object)) ? [] : [`Endpoints ${nameOf(object)} are left over`],
    ),
  ];
}

const serviceOf = ({ metadata }: JsonObject): string =>
  textAt(objectAt(metadata, 'labels'), 'kubernetes.io/service-name');

const isReady = ({ status }: JsonObject): boolean =>
  listAt(status, 'conditions').some((one) => textAt(one, 'type') === 'Ready' && textAt(one, 'status') === 'True');

const sliceContent = (slice: JsonObject): string[] =>
  listAt(slice, 'endpoints').map((endpoint) => {
    const { ready } = objectAt(endpoint, 'conditions') ?? {};
    return `${podOf(endpoint)} ${listAt(endpoint, 'addresses').join(' ')} ${ready}`;
  });

const endpointsContent = (object: JsonObject): string[] =>
  listAt(object, 'subsets').flatMap((subset) => [
    ...listAt(subset, 'addresses').map((address) => addressText(address, true)),
    ...listAt(subset, 'notReadyAddresses').map((address) => addressText(address, false)),
  ]);

const addressText = (address: Json, ready: boolean): string => `${podOf(address)} ${textAt(address, 'ip')} ${ready}`;
const podOf = (of: Json): string => (isObject(of) ? textAt(of.targetRef, 'name') : '');
