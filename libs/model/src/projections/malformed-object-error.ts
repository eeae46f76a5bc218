/** An API object has a field whose type Kubernetes would not accept. The object is ignored. */
export class MalformedObjectError extends Error {
  readonly code = 'MALFORMED_OBJECT';
  readonly kind: string;
  /** Empty if unreadable. */
  readonly namespace: string;
  /** Empty if unreadable. */
  readonly objectName: string;
  /** Path of the field, for example `spec.ports[0].port`. */
  readonly path: string;
  readonly expected: string;

  constructor(kind: string, namespace: string, objectName: string, path: string, expected: string) {
    super(`${kind} ${namespace === '' ? '' : `${namespace}/`}${objectName || '(unnamed)'}: ${path} is not ${expected}`);
    this.name = 'MalformedObjectError';
    this.kind = kind;
    this.namespace = namespace;
    this.objectName = objectName;
    this.path = path;
    this.expected = expected;
  }
}
