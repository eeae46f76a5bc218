import { kubeadmControllers } from '@sluice/kubernetes/preflight';
import { asRecord, asString } from '@sluice/platform';

/** A distribution of Kubernetes: how people set the flag `--controllers` of kube-controller-manager there. */
export interface Distribution {
  /** As people call it. */
  readonly name: string;
  /** Value of the flag if nobody has set it. */
  readonly controllers: string;
  /** What to do so that the flag gets a value; absent if its provider sets it. */
  readonly set?: (value: string) => string;
}

const staticPod = '/etc/kubernetes/manifests/kube-controller-manager.yaml';

const kubeadm: Distribution = {
  name: 'kubeadm',
  controllers: kubeadmControllers,
  set: (value) =>
    `set --controllers=${value} in ${staticPod} on each control-plane node, on the leader's last, and in controllerManager.extraArgs of the ConfigMap kube-system/kubeadm-config`,
};

const kind: Distribution = {
  ...kubeadm,
  name: 'kind',
  set: (value) =>
    `set --controllers=${value} in ${staticPod} of each control-plane container (docker exec -it NODE vi ${staticPod})`,
};

const rancher = (name: string, program: string, unit: string): Distribution => ({
  name,
  controllers: '*,tokencleaner,-service,-route,-cloud-node-lifecycle',
  set: (value) =>
    `put kube-controller-manager-arg: ["controllers=${value}"] into /etc/rancher/${program}/config.yaml of each server and restart ${unit}, one server after the other`,
});

/** Talos appends the value to its default. */
const talos: Distribution = {
  name: 'Talos',
  controllers: '*,tokencleaner',
  set: (value) => {
    const own = new Set(talos.controllers.split(','));
    const added = value.split(',').filter((word) => !own.has(word));
    if (added.length === 0)
      return 'run talosctl edit machineconfig for each control-plane node and remove "controllers" from cluster.controllerManager.extraArgs';
    const patch = JSON.stringify({ cluster: { controllerManager: { extraArgs: { controllers: added.join(',') } } } });
    return `run talosctl patch machineconfig --nodes CONTROL_PLANE_NODES --patch '${patch}'`;
  },
};

const managed = (name: string): Distribution => ({ name, controllers: '*' });

const selfBuilt: Distribution = {
  name: 'a self-built control plane',
  controllers: '*',
  set: (value) => `restart each kube-controller-manager with --controllers=${value}, the leader last`,
};

/** What only Nodes of a distribution have. The first match counts: kind, for one, runs kubeadm. */
const signs: readonly (readonly [Distribution, (node: NodeSigns) => boolean])[] = [
  [kind, ({ providerID }) => providerID.startsWith('kind://')],
  [rancher('k3s', 'k3s', 'k3s'), ({ version }) => version.includes('+k3s')],
  [rancher('RKE2', 'rke2', 'rke2-server'), ({ version }) => version.includes('+rke2')],
  [managed('EKS'), ({ version }) => version.includes('-eks-')],
  [managed('GKE'), ({ version }) => version.includes('-gke.')],
  [managed('AKS'), ({ labels }) => 'kubernetes.azure.com/cluster' in labels],
  [talos, ({ osImage }) => osImage.startsWith('Talos')],
];

interface NodeSigns {
  readonly version: string;
  readonly osImage: string;
  readonly providerID: string;
  readonly labels: Readonly<Record<string, unknown>>;
}

/**
 * The distribution that a Node belongs to.
 *
 * @param hasStaticPods whether Pods of kube-controller-manager are visible in kube-system, as with kubeadm
 */
export function distributionOf(node: unknown, hasStaticPods: boolean): Distribution {
  const { metadata, spec, status } = asRecord(node);
  const { kubeletVersion, osImage } = asRecord(asRecord(status).nodeInfo);
  const found: NodeSigns = {
    version: asString(kubeletVersion),
    osImage: asString(osImage),
    providerID: asString(asRecord(spec).providerID),
    labels: asRecord(asRecord(metadata).labels),
  };
  return signs.find(([, matches]) => matches(found))?.[0] ?? (hasStaticPods ? kubeadm : selfBuilt);
}
