/**
 * An object of the API whose field has a type that Kubernetes would not accept.
 * The object is left out; nothing is guessed from it.
 */
export class MalformedObjectError extends Error {
  readonly code = 'MALFORMED_OBJECT';
  readonly kind: string;
  /** Empty if it cannot be read. */
  readonly namespace: string;
  /** Empty if it cannot be read. */
  readonly objectName: string;
  /** Path of the field, e.g. `spec.ports[0].port`. */
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
