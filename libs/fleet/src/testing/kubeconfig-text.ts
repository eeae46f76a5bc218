export interface TextOptions {
  readonly server?: string;
  /** The first one is the current context. Default: `test`. */
  readonly contexts?: readonly string[];
  /** Further fields of the cluster and of the user. */
  readonly cluster?: object;
  readonly user?: object;
}

/** A kubeconfig in JSON, which is valid YAML. */
export function kubeconfigText({ server, contexts = ['test'], cluster, user }: TextOptions = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': contexts[0],
    contexts: contexts.map((name) => ({ name, context: { cluster: 'one', user: 'somebody' } })),
    clusters: [{ name: 'one', cluster: { server: server ?? 'http://127.0.0.1:1', ...cluster } }],
    users: [{ name: 'somebody', user: { ...user } }],
  });
}
