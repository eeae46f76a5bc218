import { qualified, type ResourceInfo } from './resources.ts';

/** meta/v1 Status of a failed request. */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: Readonly<Record<string, never>>;
  readonly status: 'Failure';
  readonly message: string;
  readonly reason: string;
  readonly code: number;
  readonly details?: StatusDetails;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface StatusCause {
  readonly reason?: string;
  readonly message: string;
  readonly field?: string;
}

/** A request that the fake API server rejects, with the messages of k8s.io/apimachinery. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly code = 'KUBERNETES_STATUS';
  readonly status: Status;

  constructor(httpCode: number, reason: string, message: string, details?: StatusDetails) {
    super(message);
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason,
      ...(details === undefined ? {} : { details }),
      code: httpCode,
    };
  }
}

export function isStatusError(error: unknown): error is StatusError {
  return error instanceof Error && 'code' in error && error.code === 'KUBERNETES_STATUS';
}

/** Message of a conflict on resourceVersion. */
export const objectModified =
  'the object has been modified; please apply your changes to the latest version and try again';

function details(info: ResourceInfo, name: string): StatusDetails {
  return {
    ...(name === '' ? {} : { name }),
    ...(info.group === '' ? {} : { group: info.group }),
    kind: info.name,
  };
}

export function notFound(info: ResourceInfo, name: string): StatusError {
  return new StatusError(404, 'NotFound', `${qualified(info)} "${name}" not found`, details(info, name));
}

export function alreadyExists(info: ResourceInfo, name: string): StatusError {
  return new StatusError(409, 'AlreadyExists', `${qualified(info)} "${name}" already exists`, details(info, name));
}

export function generateNameConflict(info: ResourceInfo, name: string): StatusError {
  const text = `${qualified(info)} "${name}" already exists, the server was not able to generate a unique name for the object`;
  return new StatusError(409, 'AlreadyExists', text, { ...details(info, name), retryAfterSeconds: 1 });
}

export function conflict(info: ResourceInfo, name: string, why: string, as?: 'kind'): StatusError {
  const text = `Operation cannot be fulfilled on ${qualified(info, as)} "${name}": ${why}`;
  return new StatusError(409, 'Conflict', text, details(info, name));
}

export function forbidden(info: ResourceInfo, name: string, why: string): StatusError {
  return new StatusError(403, 'Forbidden', `${qualified(info)} "${name}" is forbidden: ${why}`, details(info, name));
}

/** A create in a terminating namespace; the cause distinguishes it from other 403 responses (B10). */
export function namespaceTerminating(info: ResourceInfo, name: string, namespace?: string): StatusError {
  const where = namespace === undefined ? 'namespace' : `namespace ${namespace}`;
  const why = `unable to create new content in ${where} because it is being terminated`;
  return new StatusError(403, 'Forbidden', `${qualified(info)} "${name}" is forbidden: ${why}`, {
    ...details(info, name),
    causes: [{ reason: 'NamespaceTerminating', message: `${where} is being terminated`, field: 'metadata.namespace' }],
  });
}

/** 410: a watch or page starts before the compacted resourceVersion. */
export function expired(message: string): StatusError {
  return new StatusError(410, 'Expired', message);
}

export function badRequest(message: string): StatusError {
  return new StatusError(400, 'BadRequest', message);
}

export function internalError(why: string): StatusError {
  return new StatusError(500, 'InternalError', `Internal error occurred: ${why}`, { causes: [{ message: why }] });
}

export function tooManyRequests(retryAfterSeconds: number): StatusError {
  const text = 'the server has received too many requests and has asked us to try again later';
  return new StatusError(429, 'TooManyRequests', text, { retryAfterSeconds });
}

/** 504 of a server that has not reached the requested resourceVersion. */
export function tooLarge(asked: number, current: number): StatusError {
  const message = `Too large resource version: ${asked}, current: ${current}`;
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
  return new StatusError(504, 'Timeout', message, { causes, retryAfterSeconds: 1 });
}

export function serviceUnavailable(why: string): StatusError {
  return new StatusError(503, 'ServiceUnavailable', why);
}

export function methodNotAllowed(): StatusError {
  return new StatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');
}

/** Response to a path that names no resource. */
export function pathNotFound(): StatusError {
  return new StatusError(404, 'NotFound', 'the server could not find the requested resource');
}
