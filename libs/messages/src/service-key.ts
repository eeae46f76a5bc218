/** Identifies a Service of a cluster. All its messages are in one partition, in order. */
export interface ServiceKey {
  /** Identity of the cluster: the UID of its namespace kube-system. */
  readonly cluster: string;
  readonly namespace: string;
  readonly service: string;
}

export function formatServiceKey(key: ServiceKey): string {
  return `${key.cluster}/${key.namespace}/${key.service}`;
}

export function isServiceKey(text: string): boolean {
  const parts = text.split('/');
  return parts.length === 3 && parts.every((part) => part !== '');
}

/** Parses a formatted key. Throws RangeError. Kubernetes names contain no slash. */
export function parseServiceKey(text: string): ServiceKey {
  const [cluster = '', namespace = '', service = ''] = text.split('/');
  if (!isServiceKey(text)) {
    throw new RangeError(`service key ${JSON.stringify(text)}: expected CLUSTER/NAMESPACE/SERVICE`);
  }
  return { cluster, namespace, service };
}
