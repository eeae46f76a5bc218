import { KubeConfig } from '@kubernetes/client-node';
import { type JsonRecord, redact, secretsIn } from '@sluice/platform';
import type { Authenticator } from './authenticator.ts';
import type { KubeconfigCluster, KubeconfigUser } from './kubeconfig-entries.ts';

/**
 * Authenticates with an exec plugin or an auth-provider, such as OIDC. Loaded on demand: client-node takes 0.4 s and 60
 * to 90 MB.
 */
export function pluginAuthenticator(cluster: KubeconfigCluster, user: KubeconfigUser): Authenticator {
  const config = new KubeConfig();
  // client-node rejects http:// unless certificate verification is off.
  const skipTLSVerify = cluster.skipTLSVerify || cluster.server.startsWith('http:');
  config.loadFromOptions({
    clusters: [{ ...cluster, skipTLSVerify }],
    users: [user.exec ? { ...user, exec: withExecInfo(user.exec) } : user],
    contexts: [{ name: 'plugin', cluster: cluster.name, user: user.name }],
    currentContext: 'plugin',
  });
  const secrets = secretsIn(user);
  return {
    applyToHTTPSOptions: (options) =>
      config.applyToHTTPSOptions(options).catch((error: unknown) => {
        // A plugin may print its arguments and its environment when it fails.
        if (error instanceof Error) error.message = redact(error.message, secrets);
        throw error;
      }),
  };
}

/** Plugins read the protocol version, and that the session is not interactive, from KUBERNETES_EXEC_INFO. */
function withExecInfo(exec: JsonRecord): JsonRecord {
  const info = { apiVersion: exec.apiVersion, kind: 'ExecCredential', spec: { interactive: false } };
  const env: readonly unknown[] = Array.isArray(exec.env) ? exec.env : [];
  return { ...exec, env: [{ name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }, ...env] };
}
