import type { AccessReviewer } from '@sluice/console';
import type { Configuration } from '@sluice/fleet/configuration';
import { type ClusterAccess, Connection, isApiError, unauthenticatedAccess } from '@sluice/kubernetes';
import { readEndpoints, reviewTokenAccess } from '@sluice/kubernetes/preflight';
import { type Clock, connectionProblem, type Logger } from '@sluice/platform';
import { userAgent } from '@sluice/platform/process';

interface Ports {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Undefined if the console needs none. */
export function reviewsOf(
  { console: { authorizationMode } }: Pick<Configuration, 'console'>,
  accesses: ReadonlyMap<string, ClusterAccess>,
  ports: Ports,
): AccessReviews | undefined {
  return authorizationMode === 'cluster' ? new AccessReviews(accesses, ports) : undefined;
}

interface Reviewed {
  readonly access: ClusterAccess;
  readonly connection: Connection;
  isAnswering: boolean;
}

/** Connections to one API server. For a reader of single namespaces, each of them is reviewed. */
const maxConnections = 16;

/** Asks the API servers of these clusters what readers of the console may read, without credentials of its own. */
export class AccessReviews implements AccessReviewer {
  /** How each cluster is reached, by identity. */
  readonly #accesses: ReadonlyMap<string, ClusterAccess>;
  readonly #ports: Ports;
  readonly #reviewed = new Map<string, Reviewed>();

  /** Clusters may come and go. */
  constructor(accesses: ReadonlyMap<string, ClusterAccess>, ports: Ports) {
    this.#accesses = accesses;
    this.#ports = ports;
  }

  clusters(): readonly string[] {
    return [...this.#accesses.keys()];
  }

  async review(cluster: string, token: string, namespace: string | undefined) {
    const reviewed = this.#reviewedAt(cluster);
    try {
      const signal = new AbortController().signal;
      const answer = await reviewTokenAccess(reviewed.connection, token, readEndpoints(namespace), signal);
      reviewed.isAnswering = true;
      return answer;
    } catch (error) {
      // Once per outage. Not the message of the server, which may quote the token.
      if (reviewed.isAnswering)
        this.#ports.logger.warn('cannot review the access of readers', { cluster, ...reasonOf(error) });
      reviewed.isAnswering = false;
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#reviewed.values(), ({ connection }) => connection.destroy()));
    this.#reviewed.clear();
  }

  #reviewedAt(cluster: string): Reviewed {
    const access = this.#accesses.get(cluster);
    const known = this.#reviewed.get(cluster);
    if (access === undefined) throw new Error(`cluster ${cluster} is not connected`);
    if (known?.access === access) return known;
    void known?.connection.destroy();
    const options = { access: unauthenticatedAccess(access), userAgent: userAgent('console'), maxConnections };
    const opened = { access, connection: new Connection({ ...options, ...this.#ports }), isAnswering: true };
    this.#reviewed.set(cluster, opened);
    return opened;
  }
}

function reasonOf(error: unknown): { readonly reason: string } {
  if (!isApiError(error)) return { reason: 'unknown error' };
  const { status, reason } = error;
  return { reason: status === 0 ? (connectionProblem(reason) ?? reason) : `HTTP status ${status}` };
}
