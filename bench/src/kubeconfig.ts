/** A kubeconfig, which may be JSON, of a server without credentials. */
export function kubeconfigOf(server: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'generated',
    contexts: [{ name: 'generated', context: { cluster: 'generated', user: 'nobody' } }],
    clusters: [{ name: 'generated', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'nobody', user: {} }],
  };
}
