import type { ClusterAccess } from './kubeconfig.ts';

/** Access to a server without authentication, such as a fake API server on loopback. */
export function anonymousAccess(server: string, context: string): ClusterAccess {
  return {
    context,
    server: server.replace(/\/$/, ''),
    source: `address ${server}`,
    proxyUrl: undefined,
    open: async () => ({ applyToHTTPSOptions: async () => {} }),
  };
}
