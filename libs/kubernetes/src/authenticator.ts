import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import type { KubeconfigCluster, KubeconfigUser } from './kubeconfig-entries.ts';

/** Puts credentials and TLS options on a request. Named as in client-node, whose KubeConfig is one too. */
export interface Authenticator {
  applyToHTTPSOptions(options: RequestOptions): Promise<void>;
}

/**
 * For users whose credentials stand in the kubeconfig, or in files, which are read anew each time since they rotate; not
 * for those with a plugin.
 */
export function plainAuthenticator(cluster: KubeconfigCluster, user: KubeconfigUser): Authenticator {
  return {
    applyToHTTPSOptions: async (options) => {
      const [ca, cert, key, token] = await Promise.all([
        pem(cluster.caFile, cluster.caData),
        pem(user.certFile, user.certData),
        pem(user.keyFile, user.keyData),
        user.tokenFile === undefined ? user.token : readFile(user.tokenFile, 'utf8'),
      ]);
      Object.assign(options, {
        headers: {
          ...(token && { Authorization: `Bearer ${token}` }),
          ...(user.impersonateUser && { 'Impersonate-User': user.impersonateUser }),
        },
        ...(user.username && { auth: `${user.username}:${user.password ?? ''}` }),
        ...(cluster.skipTLSVerify && { rejectUnauthorized: false }),
        ...(cluster.tlsServerName && { servername: cluster.tlsServerName }),
        ...(ca && { ca }),
        ...(cert && { cert }),
        ...(key && { key }),
      } satisfies RequestOptions);
    },
  };
}

async function pem(file: string | undefined, data: string | undefined): Promise<Buffer | undefined> {
  if (file !== undefined) return readFile(file);
  return data === undefined ? undefined : Buffer.from(data, 'base64');
}
