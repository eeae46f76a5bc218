import { describe, expect, it } from 'vitest';
import { ApiError, type ApiErrorKind } from '../index.ts';
import { checkConnection, checkReading } from './check-connection.ts';
import { ClusterUnavailableError } from './cluster-unavailable-error.ts';
import { type Access, neededAccess } from './permissions.ts';
import type { ClusterProbe } from './probe-controllers.ts';

type ReviewProbe = Omit<ClusterProbe, 'list'>;
type ReadingProbe = Omit<ClusterProbe, 'reviewAccess'>;

const noAbort = new AbortController().signal;
const version = { gitVersion: 'v1.36.3', major: 1, minor: 36 };
const healthy: ReviewProbe = {
  serverVersion: async () => version,
  identity: async () => 'uid',
  reviewAccess: async (accesses) => accesses.map(() => true),
};
const options = { cluster: 'prod', signal: noAbort };

async function refused(probe: Partial<ReviewProbe>): Promise<ClusterUnavailableError> {
  const error: unknown = await checkConnection({ ...healthy, ...probe }, options).catch((reason: unknown) => reason);
  if (error instanceof ClusterUnavailableError) return error;
  throw new Error(`expected a ClusterUnavailableError, got ${String(error)}`);
}

const failing = (message: string, kind: ApiErrorKind, status: number, reason: string) => async () => {
  throw new ApiError(message, { kind, status, reason });
};

describe('checkConnection', () => {
  it('returns the identity and the version', async () => {
    expect(await checkConnection(healthy, options)).toEqual({ identity: 'uid', version });
  });

  it('reviews all permissions, or only those of a watcher or a writer (A12)', async () => {
    const reviewed: Access[] = [];
    const probe: ReviewProbe = {
      ...healthy,
      reviewAccess: async (accesses) => {
        reviewed.push(...accesses);
        return accesses.map(() => true);
      },
    };
    await checkConnection(probe, options);
    expect(reviewed).toHaveLength(22);
    expect(reviewed).toContainEqual({ verb: 'watch', group: 'discovery.k8s.io', resource: 'endpointslices' });
    expect(reviewed).toContainEqual({ verb: 'delete', group: '', resource: 'endpoints' });
    const [watch, write] = [neededAccess(['watch']), neededAccess(['write'])];
    expect(watch).toHaveLength(11);
    expect(watch.every(({ verb }) => ['get', 'list', 'watch'].includes(verb))).toBe(true);
    expect(write).toHaveLength(12);
    expect(write.some(({ verb }) => ['list', 'watch'].includes(verb))).toBe(false);
  });

  it('names the user that lacks permissions, and the file that grants them', async () => {
    const error = await refused({ reviewAccess: async (all) => all.map(() => false), userName: async () => 'sluice' });
    expect(error.message).toMatch(/^cluster prod does not allow user sluice: .*rbac\.yaml$/);
  });

  it('lists all missing permissions', async () => {
    const error = await refused({
      reviewAccess: async (accesses) =>
        accesses.map(({ verb, resource }) => resource !== 'endpointslices' || verb === 'list'),
    });
    expect(error.why).toBe('forbidden');
    expect(error.message).toBe(
      'cluster prod does not allow: watch, get, create, update, delete on endpointslices.discovery.k8s.io; ' +
        'grant these permissions with a ClusterRole and a ClusterRoleBinding, see infra/kubernetes/rbac.yaml',
    );
  });

  it.each([
    [
      'cannot reach https://a: refused',
      'retry',
      0,
      'ECONNREFUSED',
      'unreachable',
      'check that the API server is running',
    ],
    ['cannot trust https://a: x', 'terminal', 0, 'CERT_HAS_EXPIRED', 'untrusted', 'cannot trust https://a: x'],
    ['no credential', 'retry', 0, 'CredentialsUnavailable', 'unauthenticated', 'no credential'],
    ['Unauthorized', 'terminal', 401, 'Unauthorized', 'unauthenticated', 'log in again or renew it'],
    ['may not', 'terminal', 403, 'Forbidden', 'forbidden', 'grant the permission'],
    ['User "system:anonymous" may not', 'terminal', 403, 'Forbidden', 'unauthenticated', 'has no credentials'],
    ['sent an HTTP request to an HTTPS server.', 'terminal', 400, 'HTTP400', 'failing', 'use https://'],
    ['it is not JSON', 'retry', 0, 'InvalidAnswer', 'failing', 'is an API server'],
    ['no', 'conflict', 404, 'NotFound', 'failing', 'is an API server'],
    ['down', 'retry', 503, 'ServiceUnavailable', 'failing', 'HTTP status 503'],
  ] as const)('says what to do about "%s"', async (message, kind, status, reason, why, advice) => {
    const error = await refused({ serverVersion: failing(message, kind, status, reason) });
    expect(error).toMatchObject({ why, code: 'CLUSTER_UNAVAILABLE' });
    expect(error.message).toContain(`cannot use cluster prod: ${message}`);
    expect(error.message).toContain(advice);
  });

  it('rejects a cluster without discovery.k8s.io/v1 (A3)', async () => {
    const old = { gitVersion: 'v1.20.4', major: 1, minor: 20 };
    const error = await refused({ serverVersion: async () => old });
    expect(error).toMatchObject({ why: 'tooOld' });
    expect(error.message).toContain('upgrade it to 1.21 or later');
  });

  it('rethrows errors that are not ApiErrors', async () => {
    const probe = { ...healthy, identity: () => Promise.reject(new TypeError('bug')) };
    await expect(checkConnection(probe, options)).rejects.toThrow(TypeError);
  });
});

describe('checkReading', () => {
  const page = { items: [], resourceVersion: '1', continueToken: '' };
  const reading: ReadingProbe = {
    serverVersion: healthy.serverVersion,
    identity: healthy.identity,
    list: async () => page,
  };

  it('lists one object of each resource', async () => {
    const reviewed: string[] = [];
    const list: ReadingProbe['list'] = async (resource, { limit }) => {
      reviewed.push(`${resource} ${limit}`);
      return page;
    };
    expect(await checkReading({ ...reading, list }, options)).toEqual({ identity: 'uid', version });
    expect(reviewed).toEqual(['services 1', 'pods 1', 'nodes 1', 'endpoints 1', 'endpointslices 1']);
    reviewed.length = 0;
    await checkReading({ ...reading, list }, { ...options, controllers: new Set(['endpointslicemirroring']) });
    expect(reviewed).toEqual(['services 1', 'endpoints 1', 'endpointslices 1']);
  });

  it('reports a forbidden list and an unsupported version', async () => {
    const list = failing('pods is forbidden: User "u" cannot list resource "pods"', 'terminal', 403, 'Forbidden');
    await expect(checkReading({ ...reading, list }, options)).rejects.toThrow(
      'cannot list resource "pods"; grant the permission',
    );
    const old = async () => ({ gitVersion: 'v1.20.0', major: 1, minor: 20 });
    await expect(checkReading({ ...reading, serverVersion: old }, options)).rejects.toThrow('upgrade it to 1.21');
  });
});
