import type { Connection } from './connection.ts';
import { invalidAnswerError } from './connection-error.ts';
import { asRecord, asString } from './record.ts';

export interface ServerVersion {
  /** E.g. `v1.36.3`. */
  readonly gitVersion: string;
  readonly major: number;
  readonly minor: number;
}

/** A request that one might be allowed to make. */
export interface Access {
  readonly verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';
  /** Empty for core. */
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  /** Every namespace if left out. */
  readonly namespace?: string;
  readonly name?: string;
}

export async function getServerVersion(connection: Connection, signal: AbortSignal): Promise<ServerVersion> {
  const { body } = await connection.request({ method: 'GET', path: '/version', signal });
  const { gitVersion, major, minor } = asRecord(body);
  if (asString(gitVersion) === '') throw invalidAnswerError(connection.server, 'it tells no version');
  // Some providers write `27+`.
  return {
    gitVersion: asString(gitVersion),
    major: Number.parseInt(asString(major), 10),
    minor: Number.parseInt(asString(minor), 10),
  };
}

/** Asks the API server whether this client may do that. */
export async function reviewAccess(connection: Connection, access: Access, signal: AbortSignal): Promise<boolean> {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: access },
  };
  const { body } = await connection.request({ method: 'POST', path, body: review, signal });
  return asRecord(asRecord(body).status).allowed === true;
}
