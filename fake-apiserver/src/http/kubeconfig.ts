/** A kubeconfig without credentials, with one context called `name`. */
export function kubeconfigOf(server: string, name = 'simulated'): object {
  return kubeconfigOfAll(new Map([[name, server]]));
}

/** A kubeconfig without credentials, with a context for each URL, by name. The first is the current one. */
export function kubeconfigOfAll(servers: ReadonlyMap<string, string>): object {
  const [current = ''] = servers.keys();
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': current,
    contexts: [...servers.keys()].map((name) => ({ name, context: { cluster: name, user: 'anyone' } })),
    clusters: [...servers].map(([name, server]) => ({ name, cluster: { server } })),
    users: [{ name: 'anyone', user: {} }],
  };
}
