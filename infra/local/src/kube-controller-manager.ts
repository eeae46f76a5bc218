import { join } from 'node:path';
import { ensureBinaries } from './binaries.ts';
import type { ControlPlane } from './control-plane.ts';
import { ServerProcess } from './server-process.ts';

/** The controllers that Sluice replaces, by their names in kube-controller-manager. */
export const CONTROLLERS = [
  'endpoints-controller',
  'endpointslice-controller',
  'endpointslice-mirroring-controller',
] as const;

export interface KubeControllerManagerOptions {
  /** Additional flags, for example `--kube-api-qps=1000`. */
  readonly args?: readonly string[];
  /** Controllers to run. Default: `CONTROLLERS`. */
  readonly controllers?: readonly string[];
  /**
   * Whether each controller uses its own ServiceAccount. Default false, as upstream. Set it under RBAC, where the program's
   * own user may not write endpoints.
   */
  readonly serviceAccountCredentials?: boolean;
}

/**
 * Starts kube-controller-manager with exactly these controllers, without leader election and without a port. Returns once
 * the process runs. It stops with this process.
 */
export async function startKubeControllerManager(
  controlPlane: {
    /** Of its log. */
    readonly directory: string;
    readonly kubeconfigs: Pick<ControlPlane['kubeconfigs'], 'kube-controller-manager'>;
  },
  options: KubeControllerManagerOptions = {},
): Promise<ServerProcess> {
  const binaries = await ensureBinaries();
  const { directory, kubeconfigs } = controlPlane;
  const kubeControllerManager = new ServerProcess({
    name: 'kube-controller-manager',
    program: binaries.kubeControllerManager,
    args: [
      `--kubeconfig=${kubeconfigs['kube-controller-manager']}`,
      `--controllers=${(options.controllers ?? CONTROLLERS).join(',')}`,
      '--leader-elect=false',
      '--secure-port=0',
      `--use-service-account-credentials=${options.serviceAccountCredentials ?? false}`,
      ...(options.args ?? []),
    ],
    log: join(directory, 'kube-controller-manager.log'),
  });
  await kubeControllerManager.start();
  return kubeControllerManager;
}
