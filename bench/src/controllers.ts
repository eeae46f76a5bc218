import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ControlPlane, ServerProcess, startKubeControllerManager } from '@sluice/local';
import { type Role, serversReady } from './fleet.ts';

/** A controller of Endpoints and EndpointSlices. */
export interface Controller {
  readonly name: string;
  readonly description: string;
  /** Flags that differ from the defaults. */
  readonly flags: readonly string[];
  /**
   * Starts the servers of a fleet, which belong to the process that is measured. Like the start of the API server, theirs counts
   * as nobody's. Default: there are none.
   */
  prepare?(controlPlane: ControlPlane, options: StartOptions): Promise<ServerProcess>;
  /** `prepared`: what `prepare` returned. */
  start(controlPlane: ControlPlane, options: StartOptions, prepared?: ServerProcess): Promise<ServerProcess>;
}

export interface StartOptions {
  /** Sluice writes a CPU profile to this folder on exit. */
  readonly profileDirectory?: string;
  /** Additional flags of `sluice run`. */
  readonly flags?: readonly string[];
}

/** The controller that the others are compared with. */
export const SUBJECT = 'sluice';
/** Sluice in separate processes. */
export const FLEET = 'fleet';
/** Sluice in separate processes that each do everything. */
const WORKER = 'worker';
/** Both of another checkout. */
export const BASE = 'base';
export const BASE_FLEET = 'base-fleet';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const RAISED = [
  '--kube-api-qps=1000',
  '--kube-api-burst=2000',
  '--concurrent-service-endpoint-syncs=20',
  '--concurrent-endpoint-syncs=20',
];

export const CONTROLLERS: readonly Controller[] = [
  {
    name: SUBJECT,
    description: 'Sluice all-in-one, `bin/sluice run`',
    flags: [],
    start: (controlPlane, options) => startSluice(controlPlane, options),
  },
  {
    name: FLEET,
    description: 'Sluice as one process of each role, with a NATS and a Redis that count as parts of it',
    flags: [],
    prepare: (controlPlane, options) => prepareFleet(controlPlane, options),
    start: startRoles,
  },
  {
    name: WORKER,
    description: 'Sluice as one worker, with a NATS and a Redis that count as parts of it',
    flags: [],
    prepare: (controlPlane, options) => prepareFleet(controlPlane, options, ['worker']),
    start: startRoles,
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
  {
    name: 'informers',
    description: 'the decisions of Sluice behind indexed informers of @kubernetes/client-node and a work queue',
    flags: [],
    start: startInformerLoop,
  },
];

/** Sluice of another checkout with its packages installed, so that two commits are measured in one interleaved run. */
export function baseControllers(root: string): readonly Controller[] {
  return [
    {
      name: BASE,
      description: '`bin/sluice run` of the checkout that --base names',
      flags: [],
      start: (controlPlane, options) => startSluice(controlPlane, options, root),
    },
    {
      name: BASE_FLEET,
      description: 'the fleet of the checkout that --base names',
      flags: [],
      start: (controlPlane, options) => startFleet(controlPlane, options, { root }),
    },
  ];
}

/** `bin/sluice run` on this cluster. */
export async function startSluice(
  controlPlane: ControlPlane,
  { profileDirectory, flags = [] }: StartOptions,
  root = ROOT,
): Promise<ServerProcess> {
  const run = [
    'run',
    '--kubeconfig',
    controlPlane.kubeconfigs.sluice,
    '--output',
    'none',
    '--log-level',
    'error',
    ...flags,
  ];
  const profiled = ['--cpu-prof', `--cpu-prof-dir=${profileDirectory}`, join(root, 'services/sluice/src/main.ts')];
  const sluice = new ServerProcess({
    name: 'sluice',
    program: profileDirectory === undefined ? join(root, 'bin/sluice') : process.execPath,
    args: profileDirectory === undefined ? run : [...profiled, ...run],
    log: join(controlPlane.directory, 'sluice.log'),
  });
  await sluice.start();
  return sluice;
}

async function startInformerLoop({ directory, kubeconfigs }: ControlPlane): Promise<ServerProcess> {
  const loop = new ServerProcess({
    name: 'informers',
    program: process.execPath,
    args: [join(ROOT, 'bench/src/informer-loop-program.ts'), kubeconfigs.sluice],
    log: join(directory, 'informers.log'),
  });
  await loop.start();
  return loop;
}

/** How long NATS and Redis may take to start, in milliseconds. */
const serversTimeoutMs = 30_000;

async function prepareFleet(
  controlPlane: ControlPlane,
  options: StartOptions,
  roles: readonly Role[] = [],
): Promise<ServerProcess> {
  const ready = join(controlPlane.directory, 'fleet', serversReady);
  rmSync(ready, { force: true });
  const fleet = await startFleet(controlPlane, options, { roles, wait: true });
  await fleet.ready(async () => existsSync(ready), serversTimeoutMs);
  return fleet;
}

async function startRoles(_: ControlPlane, __: StartOptions, prepared?: ServerProcess): Promise<ServerProcess> {
  if (prepared === undefined) throw new Error('the servers of the fleet were not started');
  prepared.signal('SIGUSR2');
  return prepared;
}

/** `wait`: starts only the servers. Earlier checkouts do not know that. */
async function startFleet(
  controlPlane: ControlPlane,
  { profileDirectory }: StartOptions,
  { root = ROOT, roles = [], wait = false }: { root?: string; roles?: readonly Role[]; wait?: boolean } = {},
): Promise<ServerProcess> {
  const program = join(root, 'bench/src/fleet-program.ts');
  const directory = join(controlPlane.directory, 'fleet');
  const rest = profileDirectory === undefined && roles.length === 0 ? [] : [profileDirectory ?? '', ...roles];
  const fleet = new ServerProcess({
    name: FLEET,
    program: process.execPath,
    args: [program, ...(wait ? ['--wait'] : []), directory, controlPlane.kubeconfigs.sluice, ...rest],
    log: join(controlPlane.directory, 'fleet.log'),
  });
  await fleet.start();
  return fleet;
}
