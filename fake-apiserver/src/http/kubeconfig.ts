/** A kubeconfig without credentials, with one context called `name`. */
export function kubeconfigOf(server: string, name = 'simulated'): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    contexts: [{ name, context: { cluster: name, user: 'anyone' } }],
    clusters: [{ name, cluster: { server } }],
    users: [{ name: 'anyone', user: {} }],
  };
}
