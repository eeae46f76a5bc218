/**
 * A genuine control plane on loopback, without containers: etcd, kube-apiserver and kube-controller-manager of pinned
 * versions, for tests and measurements.
 */
export { type Binaries, cacheDirectory, ensureBinaries, KUBERNETES_VERSION } from './binaries.ts';
export { type ControlPlane, type ControlPlaneOptions, startControlPlane } from './control-plane.ts';
export type { Identity } from './credentials.ts';
export {
  CONTROLLERS,
  type KubeControllerManagerOptions,
  startKubeControllerManager,
} from './kube-controller-manager.ts';
export { kubectl, RBAC_FILE } from './kubectl.ts';
export { LocalError } from './local-error.ts';
export { ServerProcess } from './server-process.ts';
