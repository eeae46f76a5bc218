import type { ClusterSource } from '@sluice/fleet/clusters';
import { ApiError, type ClusterAccess, KubeconfigError } from '@sluice/kubernetes';
import type { Check } from '@sluice/kubernetes/preflight';
import { expect, test } from 'vitest';
import { checkSource } from './check-source.ts';

const access = {} as ClusterAccess;
const candidate = (name: string, load = async () => access) => ({ name, from: name, fingerprint: name, load });
const unusable = (name: string, { result, detail }: Check) => `${name}: ${result}, ${detail}`;

test('a cluster that cannot be checked does not stop the others', async () => {
  const source: ClusterSource = {
    about: 'kubeconfig /clusters',
    read: async () => ({
      problems: [{ name: 'a', from: 'a', reason: 'not YAML' }],
      candidates: [
        candidate('b', async () => {
          throw new KubeconfigError('KUBECONFIG_NO_CONTEXT', 'no such context');
        }),
        candidate('c'),
        candidate('d'),
      ],
    }),
  };
  const check = async (name: string) => {
    if (name === 'c') throw new ApiError('server gone', { kind: 'retry', status: 503, reason: '' });
    return `${name}: ok`;
  };
  expect(await checkSource(source, { check, unusable })).toEqual([
    'a: failed, not YAML',
    'b: failed, no such context',
    'c: failed, server gone',
    'd: ok',
  ]);
});

test('a source that cannot be read is a failed check', async () => {
  const source: ClusterSource = {
    about: 'kubeconfig /clusters',
    read: async () => {
      throw new Error('permission denied');
    },
  };
  expect(await checkSource(source, { check: async () => 'ok', unusable })).toEqual([
    'kubeconfig /clusters: failed, permission denied',
  ]);
});
