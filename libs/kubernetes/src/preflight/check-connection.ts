import { allControllers, resourcesOf } from '@sluice/controllers';
import type { Controller, WrittenResource } from '@sluice/model';
import { isApiError, type Resource, resourcesOfReader } from '../index.ts';
import { ClusterUnavailableError, unavailable } from './cluster-unavailable-error.ts';
import { type Access, type ClusterWork, controllerAccess, neededAccess } from './permissions.ts';
import type { ClusterProbe } from './probe-controllers.ts';
import { isSupportedVersion, type ServerVersion } from './server-version.ts';

interface CheckOptions {
  /** The cluster's name in messages: its context, or its server's URL. */
  readonly cluster: string;
  /** The work whose permissions are checked. Default: watch and write. */
  readonly work?: readonly ClusterWork[];
  /** The controllers that run. Default: all. */
  readonly controllers?: ReadonlySet<Controller> | undefined;
  readonly signal: AbortSignal;
}

interface ReadingOptions extends Omit<CheckOptions, 'work'> {
  /** What is read. Default: what the controllers need. */
  readonly resources?: ReadonlySet<Resource> | undefined;
  /** What to do if something is forbidden. */
  readonly grant?: string | undefined;
}

interface CheckedCluster {
  /** uid of the namespace kube-system. */
  readonly identity: string;
  readonly version: ServerVersion;
}

/** Checks version, permissions and identity once, without retries. Throws ClusterUnavailableError. */
export async function checkConnection(
  probe: Omit<ClusterProbe, 'list'>,
  { cluster, work = ['watch', 'write'], controllers, signal }: CheckOptions,
): Promise<CheckedCluster> {
  try {
    // Sent together because a start waits for all of them; evaluated in order of importance.
    const accesses = neededAccess(work, controllers);
    const review = probe.reviewAccess(accesses, signal);
    const identity = probe.identity(signal);
    for (const answer of [review, identity]) answer.catch(() => {});
    const version = await probe.serverVersion(signal);
    rejectUnsupported(cluster, version);
    const allowed = await review;
    const missing = accesses.filter((_, index) => allowed[index] === false);
    if (missing.length > 0) throw forbidden(cluster, await probe.userName?.(signal), missing);
    return { identity: await identity, version };
  } catch (error) {
    throw isApiError(error) ? unavailable(cluster, error) : error;
  }
}

/** Checks the credentials and permissions of a controller's own ServiceAccount. Throws ClusterUnavailableError. */
export async function checkController(
  probe: Pick<ClusterProbe, 'reviewAccess' | 'userName'>,
  { cluster, written, signal }: Pick<CheckOptions, 'cluster' | 'signal'> & { readonly written: WrittenResource },
): Promise<void> {
  try {
    const accesses = controllerAccess(written);
    const allowed = await probe.reviewAccess(accesses, signal);
    const missing = accesses.filter((_, index) => allowed[index] === false);
    if (missing.length > 0) throw forbidden(cluster, await probe.userName?.(signal), missing);
  } catch (error) {
    throw isApiError(error) ? unavailable(cluster, error) : error;
  }
}

/**
 * Like `checkConnection`, for a client that sends only GET. An access review is a POST, so this lists one object of each
 * resource that is read instead. Throws ClusterUnavailableError.
 */
export async function checkReading(
  probe: Omit<ClusterProbe, 'reviewAccess'>,
  { cluster, controllers = allControllers, resources = resourcesOf(controllers), grant, signal }: ReadingOptions,
): Promise<CheckedCluster> {
  try {
    const version = await probe.serverVersion(signal);
    rejectUnsupported(cluster, version);
    const firstPage = { limit: 1, continueToken: '' };
    await Promise.all(resourcesOfReader({ resources }).map((resource) => probe.list(resource, firstPage, signal)));
    return { identity: await probe.identity(signal), version };
  } catch (error) {
    throw isApiError(error) ? unavailable(cluster, error, grant) : error;
  }
}

function rejectUnsupported(cluster: string, version: ServerVersion): void {
  if (isSupportedVersion(version)) return;
  throw new ClusterUnavailableError(
    'tooOld',
    `cluster ${cluster} runs Kubernetes ${version.gitVersion}, which has no discovery.k8s.io/v1; upgrade it to 1.21 or later`,
  );
}

function forbidden(cluster: string, user: string | undefined, missing: readonly Access[]): ClusterUnavailableError {
  const verbs = new Map<string, string[]>();
  for (const { verb, group, resource, name } of missing) {
    const target = (group === '' ? resource : `${resource}.${group}`) + (name === undefined ? '' : `/${name}`);
    verbs.set(target, [...(verbs.get(target) ?? []), verb]);
  }
  const list = [...verbs].map(([target, denied]) => `${denied.join(', ')} on ${target}`).join('; ');
  return new ClusterUnavailableError(
    'forbidden',
    `cluster ${cluster} does not allow${user ? ` user ${user}` : ''}: ${list}; ` +
      'grant these permissions with a ClusterRole and a ClusterRoleBinding, see infra/kubernetes/rbac.yaml',
  );
}
