import type { Access } from './access.ts';
import type { ServerVersion } from './access-review.ts';
import { type ApiError, isApiError } from './api-error.ts';
import { type ClusterReader, type Resource, watchedResources } from './cluster.ts';
import { resourceInfo } from './resources.ts';

/** What `checkConnection` asks of a cluster; HttpCluster has it. */
export interface ClusterProbe {
  identity(signal: AbortSignal): Promise<string>;
  serverVersion(signal: AbortSignal): Promise<ServerVersion>;
  /** Of each whether it is allowed, in their order. */
  checkAccess(accesses: readonly Access[], signal: AbortSignal): Promise<readonly boolean[]>;
}

/** A watcher watches, a writer writes: neither needs what the other may do. */
export type ClusterWork = 'watch' | 'write';

const allWork: readonly ClusterWork[] = ['watch', 'write'];

export interface CheckOptions {
  /** How the cluster is called in messages: its context, or its server's URL. */
  readonly cluster: string;
  /** What is going to be done there. Default: both. */
  readonly work?: readonly ClusterWork[];
  readonly signal: AbortSignal;
}

export interface CheckedCluster {
  /** uid of the namespace kube-system. */
  readonly identity: string;
  readonly version: ServerVersion;
}

export type Unavailability =
  | 'unreachable'
  | 'untrusted'
  | 'unauthenticated'
  | 'forbidden'
  | 'tooOld'
  | 'failing'
  | 'rival';

/** A cluster that cannot be used as it is. The message says why, and what to do. */
export class ClusterUnavailableError extends Error {
  override readonly name = 'ClusterUnavailableError';
  readonly code = 'CLUSTER_UNAVAILABLE';
  readonly why: Unavailability;

  constructor(why: Unavailability, message: string, cause?: unknown) {
    super(message, { cause });
    this.why = why;
  }
}

/** All that Sluice must be allowed to do in a cluster for such work. */
export function neededAccess(work: readonly ClusterWork[]): readonly Access[] {
  const of = (resource: Resource, ...verbs: Access['verb'][]) =>
    verbs.map((verb) => ({ verb, group: resourceInfo[resource].group, resource }));
  return [
    { verb: 'get', group: '', resource: 'namespaces', name: 'kube-system' },
    ...(work.includes('watch') ? watchedResources.flatMap((resource) => of(resource, 'list', 'watch')) : []),
    // get: what a create or update meets is read back, and what is removed is looked for.
    ...(work.includes('write')
      ? [
          ...(['endpoints', 'endpointslices'] as const).flatMap((resource) =>
            of(resource, 'get', 'create', 'update', 'delete'),
          ),
          ...(['services', 'pods', 'nodes'] as const).flatMap((resource) => of(resource, 'get')),
        ]
      : []),
  ];
}

/** Asks a cluster once, without retries, for all that a start needs. Throws ClusterUnavailableError. */
export async function checkConnection(probe: ClusterProbe, options: CheckOptions): Promise<CheckedCluster> {
  const { cluster, signal } = options;
  try {
    // Asked together, since a start waits for all of them, and judged one after the other.
    const accesses = neededAccess(options.work ?? allWork);
    const allowed = probe.checkAccess(accesses, signal);
    const identity = probe.identity(signal);
    for (const answer of [allowed, identity]) answer.catch(() => {});
    const version = await probe.serverVersion(signal);
    refuseOld(cluster, version);
    const answers = await allowed;
    const missing = accesses.filter((_, index) => answers[index] === false);
    if (missing.length > 0) throw forbidden(cluster, missing);
    return { identity: await identity, version };
  } catch (error) {
    throw isApiError(error) ? unavailable(cluster, error) : error;
  }
}

/** What `checkReading` asks of a cluster; HttpCluster has it. */
export type ReadingProbe = Pick<ClusterProbe, 'identity' | 'serverVersion'> & Pick<ClusterReader, 'list'>;

/**
 * As `checkConnection`, for a client that only reads: an access review is a POST, so what may be read is tried out. Throws
 * ClusterUnavailableError.
 */
export async function checkReading(
  probe: ReadingProbe,
  { cluster, signal }: Pick<CheckOptions, 'cluster' | 'signal'>,
): Promise<CheckedCluster> {
  try {
    const version = await probe.serverVersion(signal);
    refuseOld(cluster, version);
    const one = { limit: 1, continueToken: '' };
    await Promise.all(watchedResources.map((resource) => probe.list(resource, one, signal)));
    return { identity: await probe.identity(signal), version };
  } catch (error) {
    throw isApiError(error) ? unavailable(cluster, error) : error;
  }
}

function refuseOld(cluster: string, { major, minor, gitVersion }: ServerVersion): void {
  if (major !== 1 || minor >= 21) return;
  throw new ClusterUnavailableError(
    'tooOld',
    `cluster ${cluster} has version ${gitVersion}, which lacks discovery.k8s.io/v1; upgrade it to 1.21 or later`,
  );
}

function forbidden(cluster: string, missing: readonly Access[]): ClusterUnavailableError {
  const byResource = new Map<string, string[]>();
  for (const { verb, group, resource, name } of missing) {
    const what = (group === '' ? resource : `${resource}.${group}`) + (name === undefined ? '' : `/${name}`);
    byResource.set(what, [...(byResource.get(what) ?? []), verb]);
  }
  const list = [...byResource].map(([what, verbs]) => `${verbs.join(', ')} on ${what}`).join('; ');
  return new ClusterUnavailableError(
    'forbidden',
    `cluster ${cluster} does not allow: ${list}; grant these to the user with a ClusterRole and ClusterRoleBinding`,
  );
}

function unavailable(cluster: string, error: ApiError): ClusterUnavailableError {
  const [why, advice] = diagnose(error);
  return new ClusterUnavailableError(why, `cluster ${cluster} cannot be used: ${error.message}${advice}`, error);
}

function diagnose(error: ApiError): readonly [Unavailability, string] {
  const { status, reason, reaction, message } = error;
  // These messages say themselves what to do.
  if (reason === 'CredentialsUnavailable') return ['unauthenticated', ''];
  if (status === 0 && reaction === 'terminal') return ['untrusted', ''];
  const noApi = '; check that the server in the kubeconfig is an API server';
  if (status === 404 || reason === 'InvalidAnswer') return ['failing', noApi];
  if (status === 0) return ['unreachable', '; check that the API server runs, and the server in the kubeconfig'];
  if (status === 401) {
    return ['unauthenticated', '; the server refuses the token or client certificate: log in again or renew it'];
  }
  if (status === 403 && message.includes('"system:anonymous"')) {
    return ['unauthenticated', '; the kubeconfig gives no credential: add a user with one to the context'];
  }
  if (status === 403) return ['forbidden', '; grant it to the user with a ClusterRole and ClusterRoleBinding'];
  if (status === 400 && message.includes('HTTPS server')) {
    return ['failing', '; write https:// instead of http:// for the server in the kubeconfig'];
  }
  return ['failing', `; the API server answers with HTTP status ${status}: look at its log, then start again`];
}
