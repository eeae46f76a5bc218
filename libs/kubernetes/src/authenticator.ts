import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import type { KubeconfigCluster, KubeconfigUser } from './kubeconfig-entries.ts';

/**
 * Adds credentials and TLS options to a request. The method name is client-node's, whose KubeConfig implements this
 * interface.
 */
export interface Authenticator {
  applyToHTTPSOptions(options: RequestOptions): Promise<void>;
}

/**
 * Authenticates with credentials from the kubeconfig or from files, which are read each time because they rotate. Does
 * not support plugins.
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

/** Trusts the same servers, and sends no credentials. Not even a certificate: an API server prefers it to a token. */
export function withoutCredentials(user: Authenticator): Authenticator {
  return {
    async applyToHTTPSOptions(options) {
      const ofUser: RequestOptions = {};
      await user.applyToHTTPSOptions(ofUser);
      const { ca, servername, rejectUnauthorized } = ofUser;
      Object.assign(options, {
        ...(ca !== undefined && { ca }),
        ...(servername !== undefined && { servername }),
        ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
      } satisfies RequestOptions);
    },
  };
}

async function pem(file: string | undefined, data: string | undefined): Promise<Buffer | undefined> {
  if (file !== undefined) return readFile(file);
  return data === undefined ? undefined : Buffer.from(data, 'base64');
}
