/**
 * Genuine servers on loopback, without containers, of pinned versions, for tests and measurements: etcd, kube-apiserver
 * and kube-controller-manager; nats-server.
 */
export { type Binaries, ensureBinaries, ensureNatsServer, KUBERNETES_VERSION, NATS_VERSION } from './binaries.ts';
export { cacheDirectory } from './cache-directory.ts';
export { type ControlPlane, type ControlPlaneOptions, startControlPlane } from './control-plane.ts';
export type { Identity } from './credentials.ts';
export { freePorts } from './free-ports.ts';
export {
  CONTROLLERS,
  type KubeControllerManagerOptions,
  startKubeControllerManager,
} from './kube-controller-manager.ts';
export { kubectl, RBAC_FILE } from './kubectl.ts';
export { LocalError } from './local-error.ts';
export { type Nats, type NatsOptions, startNats } from './nats.ts';
export { ServerProcess } from './server-process.ts';
