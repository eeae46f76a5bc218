/** The namespaces of a cluster that a process serves. Objects without a namespace always belong to it. Default: all. */
export interface NamespaceScope {
  readonly only?: readonly string[] | undefined;
  readonly except?: readonly string[] | undefined;
}

export function includesNamespace(scope: NamespaceScope | undefined, namespace: string): boolean {
  if (scope === undefined || namespace === '') return true;
  if (scope.only !== undefined && !scope.only.includes(namespace)) return false;
  return scope.except?.includes(namespace) !== true;
}
