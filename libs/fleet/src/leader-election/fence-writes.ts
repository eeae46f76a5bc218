import { type ApiClient, bothBeforeSend } from '@sluice/kubernetes';
import type { LeaderElectionConfiguration } from '../configuration/index.ts';
import { notSent } from './write-gate.ts';

const retryAfterMs = 5_000;
/** The API server stores none of them. */
const review = /^\/apis\/auth(entication|orization)\.k8s\.io\//;

/**
 * Sends writes only while this process is the leader, checked right before each is sent. A write that was sent in the last moment
 * before the renew deadline ends at the API server before the lease can expire.
 */
export function fenceWrites(
  client: ApiClient,
  elector: { readonly isLeader: boolean },
  { leaseDurationMs, renewDeadlineMs }: Pick<LeaderElectionConfiguration, 'leaseDurationMs' | 'renewDeadlineMs'>,
): ApiClient {
  const timeoutMs = leaseDurationMs - renewDeadlineMs;
  const assertLeader = () => {
    if (elector.isLeader) return;
    throw notSent('NotLeader', 'not sent, because this process is not the leader', { retryAfterMs });
  };
  return {
    server: client.server,
    stream: (request) => client.stream(request),
    request: (request) => {
      if (request.method === 'GET' || review.test(request.path)) return client.request(request);
      const path = `${request.path}${request.path.includes('?') ? '&' : '?'}timeout=${timeoutMs}ms`;
      const beforeSend = bothBeforeSend(request.beforeSend, assertLeader);
      return client.request({ ...request, path, timeoutMs, beforeSend });
    },
  };
}
