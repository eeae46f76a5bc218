import { describe, expect, test } from 'vitest';
import { distributionOf } from './distribution.ts';

const node = (nodeInfo: object, spec: object = {}, labels: object = {}) => ({
  metadata: { labels },
  spec,
  status: { nodeInfo: { kubeletVersion: 'v1.36.3', osImage: 'Debian GNU/Linux 13', ...nodeInfo } },
});

describe('distributionOf', () => {
  test.each<[string, unknown, boolean]>([
    ['kubeadm', node({}), true],
    ['a self-built control plane', node({}), false],
    ['a self-built control plane', undefined, false],
    ['kind', node({}, { providerID: 'kind://docker/kind/kind-control-plane' }), true],
    ['k3s', node({ kubeletVersion: 'v1.36.3+k3s1' }), false],
    ['RKE2', node({ kubeletVersion: 'v1.36.3+rke2r1' }), true],
    ['Talos', node({ osImage: 'Talos (v1.13.0)' }), true],
    ['EKS', node({ kubeletVersion: 'v1.36.3-eks-1234567' }), false],
    ['GKE', node({ kubeletVersion: 'v1.36.3-gke.1200' }), false],
    ['AKS', node({}, {}, { 'kubernetes.azure.com/cluster': 'MC_a_b_c' }), false],
  ])('%s', (name, given, hasStaticPods) => expect(distributionOf(given, hasStaticPods).name).toBe(name));
});

test('Talos appends to the flag, so the patch contains only what it adds', () => {
  const { set } = distributionOf(node({ osImage: 'Talos (v1.13.0)' }), true);
  expect(set?.('*,tokencleaner,-endpoints-controller')).toContain(
    '{"cluster":{"controllerManager":{"extraArgs":{"controllers":"-endpoints-controller"}}}}',
  );
  expect(set?.('*,tokencleaner')).toContain('remove "controllers"');
});

test.each(['EKS', 'GKE', 'AKS'])('flags of %s cannot be set', (name) => {
  const nodes = {
    EKS: node({ kubeletVersion: 'v1.36.3-eks-1' }),
    GKE: node({ kubeletVersion: 'v1.36.3-gke.1' }),
    AKS: node({}, {}, { 'kubernetes.azure.com/cluster': 'a' }),
  };
  expect(distributionOf(nodes[name as keyof typeof nodes], false).set).toBeUndefined();
});
