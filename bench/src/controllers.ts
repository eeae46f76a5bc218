import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ControlPlane, ServerProcess, startKubeControllerManager } from '@sluice/local';

/** Something that keeps Endpoints and EndpointSlices right. */
export interface Controller {
  readonly name: string;
  readonly description: string;
  /** Beyond its defaults. */
  readonly flags: readonly string[];
  start(controlPlane: ControlPlane, options: StartOptions): Promise<ServerProcess>;
}

export interface StartOptions {
  /** Sluice writes a CPU profile to this folder when it ends. */
  readonly profileDirectory?: string;
}

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const RAISED = [
  '--kube-api-qps=1000',
  '--kube-api-burst=2000',
  '--concurrent-service-endpoint-syncs=20',
  '--concurrent-endpoint-syncs=20',
];

export const CONTROLLERS: readonly Controller[] = [
  {
    name: 'sluice',
    description: 'Sluice all-in-one, `bin/sluice run`',
    flags: [],
    start: startSluice,
  },
  {
    name: 'kcm',
    description: 'kube-controller-manager with only the three controllers, default flags',
    flags: [],
    start: (controlPlane) => startKubeControllerManager(controlPlane),
  },
  {
    name: 'kcm-raised',
    description: 'the same with more requests a second and more workers',
    flags: RAISED,
    start: (controlPlane) => startKubeControllerManager(controlPlane, { args: RAISED }),
  },
];

async function startSluice(controlPlane: ControlPlane, { profileDirectory }: StartOptions): Promise<ServerProcess> {
  const run = ['run', '--kubeconfig', controlPlane.kubeconfigs.sluice, '--output', 'none', '--log-level', 'error'];
  const profiled = ['--cpu-prof', `--cpu-prof-dir=${profileDirectory}`, join(ROOT, 'services/sluice/src/main.ts')];
  const sluice = new ServerProcess({
    name: 'sluice',
    program: profileDirectory === undefined ? join(ROOT, 'bin/sluice') : process.execPath,
    args: profileDirectory === undefined ? run : [...profiled, ...run],
    log: join(controlPlane.directory, 'sluice.log'),
  });
  await sluice.start();
  return sluice;
}
