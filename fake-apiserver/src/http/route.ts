import { isResourceName, type ResourceInfo, resources } from '../server/resources.ts';

/** What a REST path names. */
export interface ResourceRoute {
  readonly info: ResourceInfo;
  /** `events.k8s.io` shows the Events of the core group in another form. */
  readonly form: 'own' | 'events.k8s.io';
  /** Empty: cluster-scoped, or all namespaces. */
  readonly namespace: string;
  /** Empty: the collection. */
  readonly name: string;
  /** Empty: the object itself. */
  readonly subresource: string;
}

/** Undefined if the path names no stored resource. */
export function parseRoute(path: string): ResourceRoute | undefined {
  const parts = decodePath(path);
  const rest = parts[0] === 'api' ? parts.slice(1) : parts.slice(2);
  const group = parts[0] === 'api' ? '' : parts[0] === 'apis' ? parts[1] : undefined;
  const [version, ...segments] = rest;
  if (group === undefined || version !== 'v1' || segments.length === 0) return undefined;
  const form = group === 'events.k8s.io' ? group : 'own';
  const inNamespace = segments[0] === 'namespaces' && segments.length > 2 && isResourceName(segments[2] ?? '');
  const [resource = '', name = '', subresource = '', ...more] = inNamespace ? segments.slice(2) : segments;
  if (!isResourceName(resource) || more.length > 0) return undefined;
  const info = resources[resource];
  const known = form === 'own' ? info.group === group : resource === 'events';
  if (!known || (inNamespace && !info.namespaced) || (!inNamespace && info.namespaced && name !== '')) return undefined;
  return { info, form, namespace: inNamespace ? (segments[1] ?? '') : '', name, subresource };
}

/** Empty if an escape is malformed: such a path names nothing. */
function decodePath(path: string): readonly string[] {
  try {
    return path.split('/').slice(1).map(decodeURIComponent);
  } catch {
    return [];
  }
}
