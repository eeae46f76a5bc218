import type { Resource } from '@sluice/kubernetes';
import { serviceNameLabel } from '@sluice/model';
import { asRecord } from '@sluice/platform';

/** Limits of Kubernetes for names and namespaces. Those of Services are shorter, but mirrored Endpoints need no Service of their name. */
const [longestName, longestNamespace] = [253, 63];

/** Characters of a DNS subdomain (RFC 1123). */
const subdomain = /^[a-z0-9][a-z0-9.-]*$/;

interface Identity {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly uid: unknown;
  readonly labels: unknown;
}

/**
 * Names become keys, ids and headers of messages, so none enters that Kubernetes does not accept.
 *
 * @throws TypeError if no API server stores such an object
 */
export function checkIdentity(resource: Resource, { namespace, name, resourceVersion, uid, labels }: Identity): void {
  checkName('metadata.name', name, longestName);
  if (resource !== 'nodes') checkName('metadata.namespace', namespace, longestNamespace);
  if (resourceVersion.length > 64)
    throw new TypeError(`metadata.resourceVersion has ${resourceVersion.length} characters`);
  if (uid !== undefined && uid !== null && !(typeof uid === 'string' && /^[\w.:-]{0,128}$/.test(uid)))
    throw new TypeError('metadata.uid is not a string of at most 128 characters');
  // The Service to which a slice belongs.
  const service = resource === 'endpointslices' ? asRecord(labels)[serviceNameLabel] : undefined;
  if (typeof service === 'string' && !/^[\w.-]{0,253}$/.test(service))
    throw new TypeError(`the label ${serviceNameLabel} is not the name of a Service`);
}

function checkName(field: string, name: string, limit: number): void {
  if (name.length > limit) throw new TypeError(`${field} has ${name.length} characters, more than ${limit}`);
  if (!subdomain.test(name)) throw new TypeError(`${field} is not a name of Kubernetes`);
}
