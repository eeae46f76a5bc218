import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts, type ServerCommand, ServerProcess } from '@sluice/local';
import type { Network } from '../network/network.ts';
import type { Role } from '../schedule.ts';
import { programIn } from './program-in.ts';
import type { Access } from './server-node.ts';
import { Target } from './target.ts';

/** A cluster as the fleet knows it. */
export interface ServedCluster {
  readonly name: string;
  readonly kubeconfig: string;
  /** Address of its API server. */
  readonly url: string;
}

export interface RoleOptions {
  readonly name: string;
  readonly role: Role;
  readonly fleet: string;
  readonly partitions: number;
  readonly directory: string;
  readonly network: Network;
  readonly bus: Access;
  readonly store: Access;
  readonly clusters: readonly ServedCluster[];
  /** Checkouts of the versions that take turns. It starts as the first. Default: this one. */
  readonly checkouts?: readonly string[];
}

/** A process of the fleet with links of its own to all servers, and a system clock of its own. */
export interface RoleProcess {
  readonly role: Role;
  readonly target: Target;
  /** URL of its metrics. */
  readonly metrics: string;
  /** Links by what they lead to: the bus, the store, each cluster. */
  readonly links: ReadonlyMap<string, readonly number[]>;
  /** Sets its system clock, relative to the machine's. */
  setClock(aheadMs: number): void;
  /** Its next start is of the next version. */
  changeVersion(): void;
}

/** This checkout. */
export const ownCheckout = fileURLToPath(new URL('../../../', import.meta.url));

/** Writes the configuration, but does not start the process. */
export async function roleProcess(options: RoleOptions): Promise<RoleProcess> {
  const { name, role, directory, bus, store } = options;
  const links = new Map([
    ['bus', bus.links],
    ['store', store.links],
  ]);
  const clusters: object[] = [];
  for (const cluster of options.clusters) {
    const link = await options.network.link(Number(new URL(cluster.url).port));
    const kubeconfig = join(directory, `${name}-${cluster.name}.kubeconfig`);
    const text = readFileSync(cluster.kubeconfig, 'utf8').replaceAll(cluster.url, `https://127.0.0.1:${link}`);
    writeFileSync(kubeconfig, text, { mode: 0o600 });
    clusters.push({ name: cluster.name, kubeconfig });
    // Reconcilers do not connect to clusters.
    if (role !== 'reconciler') links.set(cluster.name, [link]);
  }
  const configuration = join(directory, `${name}.yaml`);
  const [port = 0] = await freePorts(1);
  // JSON is valid YAML.
  const settings = {
    fleet: options.fleet,
    partitions: options.partitions,
    bus: bus.settings,
    store: store.settings,
    clusters,
    log: { format: 'json', level: 'info' },
    metricsBindAddress: `127.0.0.1:${port}`,
  };
  writeFileSync(configuration, JSON.stringify(settings), { mode: 0o600 });
  const offset = join(directory, `${name}-clock`);
  const setClock = (aheadMs: number) => writeFileSync(offset, String(aheadMs));
  setClock(0);
  const clock = new URL('./stepped-clock.ts', import.meta.url);
  clock.searchParams.set('offset', offset);
  const checkouts = options.checkouts ?? [ownCheckout];
  let version = 0;
  const command: ServerCommand = {
    name,
    program: process.execPath,
    get args() {
      const program = programIn(checkouts[version % checkouts.length] ?? ownCheckout);
      return ['--import', clock.href, program, role, '--config', configuration];
    },
    log: join(directory, 'logs', `${name}.log`),
  };
  const process_ = new ServerProcess(command);
  const changeVersion = () => void version++;
  const target = new Target(name, process_, () => process_.start());
  return { role, target, metrics: `http://127.0.0.1:${port}/metrics`, links, setClock, changeVersion };
}
