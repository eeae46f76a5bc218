import { isResourceName, type ResourceInfo, resources } from '../server/resources.ts';

/** A parsed REST path. */
export interface ResourceRoute {
  readonly info: ResourceInfo;
  /** `events.k8s.io` serves core Events in another form. */
  readonly form: 'own' | 'events.k8s.io';
  /** Empty for cluster-scoped resources and for all namespaces. */
  readonly namespace: string;
  /** Empty for the collection. */
  readonly name: string;
  /** Empty for the object itself. */
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

/** Decodes a path segment; empty if an escape is malformed, which matches no resource. */
function decodePath(path: string): readonly string[] {
  try {
    return path.split('/').slice(1).map(decodeURIComponent);
  } catch {
    return [];
  }
}
