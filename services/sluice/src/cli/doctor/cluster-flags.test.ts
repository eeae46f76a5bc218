import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { clusterFlags } from './cluster-flags.ts';

test.each([
  [{}, 'admin@prod', '--context admin@prod'],
  [{ context: '*' }, 'prod', '--context prod'],
  [{ kubeconfig: '/etc/kube config' }, "it's", "--kubeconfig '/etc/kube config' --context 'it'\\''s'"],
  [{ kubeconfig: '/etc/kube', context: 'prod', name: 'mine' }, 'mine', '--kubeconfig /etc/kube --context prod'],
  [{ inCluster: true }, 'in-cluster', '--in-cluster'],
  [{ kubeconfig: tmpdir() }, 'prod', ''],
  [undefined, 'secret', ''],
])('%j named %s: %s', (cluster, name, flags) => {
  expect(clusterFlags(cluster, name)).toBe(flags);
});
