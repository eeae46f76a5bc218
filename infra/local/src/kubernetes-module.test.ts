import { expect, test } from 'vitest';
import { moduleOf } from './kubernetes-module.ts';

const goMod = `module k8s.io/kubernetes

go 1.24.0

require (
	github.com/x/y v1.2.3
	k8s.io/api v0.0.0
)

replace (
	k8s.io/api => ./staging/src/k8s.io/api
	k8s.io/kubelet => ./staging/src/k8s.io/kubelet
)
`;

test('the module requires what the release requires, and its staging modules in their published version', () => {
  expect(moduleOf(goMod, 'v1.34.4')).toBe(`module sluice/infra/local/kubernetes

go 1.24.0

require (
	github.com/x/y v1.2.3
	k8s.io/api v0.0.0
)

replace (
	k8s.io/api => k8s.io/api v0.34.4
	k8s.io/kubelet => k8s.io/kubelet v0.34.4
)

require k8s.io/kubernetes v1.34.4
tool (
	k8s.io/kubernetes/cmd/kube-apiserver
	k8s.io/kubernetes/cmd/kube-controller-manager
)
`);
});
