import type { ClusterAccess } from './kubeconfig.ts';

/** A server that asks for no credentials, such as a simulated one on loopback. */
export function anonymousAccess(server: string, context: string): ClusterAccess {
  return {
    context,
    server: server.replace(/\/$/, ''),
    source: `address ${server}`,
    proxyUrl: undefined,
    open: async () => ({ applyToHTTPSOptions: async () => {} }),
  };
}
