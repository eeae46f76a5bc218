import type { ApiError } from '../index.ts';

type Unavailability =
  | 'unreachable'
  | 'untrusted'
  | 'unauthenticated'
  | 'forbidden'
  | 'tooOld'
  | 'failing'
  | 'competingController'
  | 'claimed';

/** A cluster that fails its preflight checks. The message says why, and what to do. */
export class ClusterUnavailableError extends Error {
  override readonly name = 'ClusterUnavailableError';
  readonly code = 'CLUSTER_UNAVAILABLE';
  readonly why: Unavailability;

  constructor(why: Unavailability, message: string, cause?: unknown) {
    super(message, { cause });
    this.why = why;
  }
}

/** What to do if something is forbidden. */
export const grantToCluster = 'grant the permission with a ClusterRole and a ClusterRoleBinding';

/** `cluster` names the cluster in the message: its context, or its server's URL. `grant`: what to do if something is forbidden. */
export function unavailable(cluster: string, error: ApiError, grant = grantToCluster): ClusterUnavailableError {
  const [why, advice] = diagnose(error, grant);
  return new ClusterUnavailableError(why, `cannot use cluster ${cluster}: ${error.message}${advice}`, error);
}

function diagnose({ status, reason, kind, message }: ApiError, grant: string): readonly [Unavailability, string] {
  // The messages of these two already say what to do.
  if (reason === 'CredentialsUnavailable') return ['unauthenticated', ''];
  if (status === 0 && kind === 'terminal') return ['untrusted', ''];
  if (status === 404 || reason === 'InvalidAnswer') {
    return ['failing', '; check that the server in the kubeconfig is an API server'];
  }
  if (status === 0) {
    return ['unreachable', '; check that the API server is running and that the kubeconfig names the right server'];
  }
  if (status === 401) {
    return ['unauthenticated', '; the server rejected the token or client certificate: log in again or renew it'];
  }
  if (status === 403 && message.includes('"system:anonymous"')) {
    return ['unauthenticated', '; the kubeconfig has no credentials: add a user with credentials to the context'];
  }
  if (status === 403) return ['forbidden', `; ${grant}`];
  if (status === 400 && message.includes('HTTPS server')) {
    return ['failing', '; use https:// instead of http:// for the server in the kubeconfig'];
  }
  return ['failing', `; the API server returned HTTP status ${status}: check its log, then start again`];
}
