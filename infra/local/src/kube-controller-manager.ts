import { join } from 'node:path';
import { ensureBinaries } from './binaries.ts';
import type { ControlPlane } from './control-plane.ts';
import { ServerProcess } from './server-process.ts';

/** The three controllers that Sluice replaces, under the names of kube-controller-manager. */
export const CONTROLLERS = [
  'endpoints-controller',
  'endpointslice-controller',
  'endpointslice-mirroring-controller',
] as const;

export interface KubeControllerManagerOptions {
  /** Appended to its flags, say `--kube-api-qps=1000`; everything not given keeps its default. */
  readonly args?: readonly string[];
  /** Which controllers run. Default: the three of `CONTROLLERS`. */
  readonly controllers?: readonly string[];
  /**
   * Each controller signs in as its own ServiceAccount. Default false, as the flag; set it under RBAC, where the
   * program's own identity may not write endpoints.
   */
  readonly serviceAccountCredentials?: boolean;
}

/**
 * Starts the genuine peer with exactly the wanted controllers and without leader election. It serves no port. Returns
 * once the process runs; its work shows in the API server. `stop()` ends it, `kill()` crashes it, `start()` brings it
 * back, `signal('SIGSTOP')` freezes it; it ends with this process.
 */
export async function startKubeControllerManager(
  controlPlane: Pick<ControlPlane, 'directory' | 'kubeconfigs'>,
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
