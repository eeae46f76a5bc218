import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient } from '@sluice/conformance';
import { RoleProcess } from '@sluice/demo/distributed';
import { loadConfiguration } from '@sluice/fleet/configuration/load';
import { type OpenInfrastructure, openInfrastructure } from '@sluice/fleet/roles';
import {
  type ControlPlane,
  type ControlPlaneOptions,
  type Nats,
  type RedisServer,
  startControlPlane,
  startNats,
  startRedis,
} from '@sluice/local';
import { silentLogger } from '@sluice/platform';
import { systemClock, systemRandom } from '@sluice/platform/process';
import { until } from '@sluice/platform/testing';
import { wrongEndpoints } from './real-services.ts';

export type FleetRole = ConstructorParameters<typeof RoleProcess>[1];

export interface LogLine {
  readonly process: string;
  readonly text: string;
}

const partitions = 4;
const program = join(import.meta.dirname, '..', '..', 'bin', 'sluice');

/** Settings under `controllers`. */
type ControllerSettings = Readonly<Record<string, number>>;

/** A fleet of processes on a real kube-apiserver with etcd, NATS and Redis. No role runs before `start`. */
export class RealFleet {
  readonly log: LogLine[] = [];
  readonly plane: ControlPlane;
  /** A user of the cluster. */
  readonly user: ApiClient;
  readonly nats: Nats;
  readonly redis: RedisServer;
  readonly #directory: string;
  readonly #configuration: string;
  readonly #controllers: ControllerSettings;
  readonly #processes = new Map<string, RoleProcess>();

  private constructor(
    directory: string,
    servers: Pick<RealFleet, 'plane' | 'user' | 'nats' | 'redis'>,
    controllers: ControllerSettings,
  ) {
    this.#directory = directory;
    this.plane = servers.plane;
    this.user = servers.user;
    this.nats = servers.nats;
    this.redis = servers.redis;
    this.#configuration = join(directory, 'sluice.json');
    this.#controllers = controllers;
    this.#configure(this.#configuration, this.plane.kubeconfigs.sluice);
  }

  #configure(file: string, kubeconfig: string): void {
    const configuration = {
      partitions,
      bus: { servers: [this.nats.url] },
      store: { url: [this.redis.url] },
      clusters: [{ name: this.plane.name, kubeconfig }],
      controllers: this.#controllers,
      log: { format: 'json', level: 'info' },
    };
    writeFileSync(file, JSON.stringify(configuration), { mode: 0o600 });
  }

  /** A configuration with the API server at another port of this machine. */
  #throughPort(port: number): string {
    const [kubeconfig, file] = [join(this.#directory, `kubeconfig-${port}`), join(this.#directory, `${port}.json`)];
    const text = readFileSync(this.plane.kubeconfigs.sluice, 'utf8');
    writeFileSync(kubeconfig, text.replaceAll(this.plane.url, `https://127.0.0.1:${port}`), { mode: 0o600 });
    this.#configure(file, kubeconfig);
    return file;
  }

  static async open({
    controllers = {},
    ...options
  }: Pick<ControlPlaneOptions, 'audit'> & { readonly controllers?: ControllerSettings } = {}): Promise<RealFleet> {
    const directory = mkdtempSync(join(tmpdir(), 'sluice-real-fleet-'));
    const stops: (() => Promise<void>)[] = [];
    try {
      const redis = await startRedis({ directory: join(directory, 'redis') });
      stops.push(() => redis.stop());
      const nats = await startNats({ directory: join(directory, 'nats') });
      stops.push(() => nats.stop());
      const cluster = { directory: join(directory, 'cluster'), name: 'production', authorization: 'RBAC' } as const;
      const plane = await startControlPlane({ ...cluster, ...options });
      stops.push(() => plane.stop());
      const user = await ApiClient.open(plane.adminKubeconfig);
      return new RealFleet(directory, { plane, nats, redis, user }, controllers);
    } catch (error) {
      for (const stop of stops.reverse()) await stop();
      throw error;
    }
  }

  /**
   * Starts a process. `program`: the path of another version's `main.ts`. `address`: of metrics and, for a console, of its
   * API. `bus`: another URL for the bus. `apiServerPort`: another port for the API server.
   */
  start(
    name: string,
    role: FleetRole,
    {
      program,
      address = '0',
      bus,
      apiServerPort,
    }: {
      readonly program?: string;
      readonly address?: string;
      readonly bus?: string;
      readonly apiServerPort?: number;
    } = {},
  ): RoleProcess {
    const configuration = apiServerPort === undefined ? this.#configuration : this.#throughPort(apiServerPort);
    const flags = ['--config', configuration, '--metrics-bind-address', address];
    if (bus !== undefined) flags.push('--bus', bus);
    const onLine = (process: string, text: string) => void this.log.push({ process, text });
    const started = new RoleProcess(name, role, flags, onLine, program === undefined ? undefined : [program]);
    this.#processes.set(name, started);
    return started;
  }

  /** Runs a command with the configuration of the fleet and returns its output. Rejects if it fails. */
  sluice(...args: string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      execFile(program, [...args, '--config', this.#configuration], (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(`sluice ${args.join(' ')}: ${stdout}${stderr}`));
      });
    });
  }

  /** Bus and store of the fleet. */
  openInfrastructure(): Promise<OpenInfrastructure> {
    const configuration = loadConfiguration({ file: this.#configuration, environment: {}, flags: {} });
    return openInfrastructure(configuration, { clock: systemClock, random: systemRandom, logger: silentLogger });
  }

  process(name: string): RoleProcess {
    const found = this.#processes.get(name);
    if (found === undefined) throw new Error(`no process ${name}`);
    return found;
  }

  /** The log lines of all processes with this message. */
  messages(message: string): readonly Readonly<Record<string, unknown>>[] {
    return this.log.flatMap(({ text }) => {
      if (!text.includes(message)) return [];
      const line = JSON.parse(text) as Readonly<Record<string, unknown>>;
      return line.msg === message ? [line] : [];
    });
  }

  /** Waits until slices and Endpoints are as the Services and Pods require. */
  async converged(): Promise<void> {
    let wrong: readonly string[] = [];
    const isRight = async () => {
      wrong = await wrongEndpoints(this.user);
      return wrong.length === 0;
    };
    await until('correct endpoints', isRight, () => `${wrong.join('; ')}\n${this.#tail()}`);
  }

  #tail(): string {
    return this.log
      .slice(-40)
      .map(({ process, text }) => `${process}: ${text}`)
      .join('\n');
  }

  async stop(): Promise<void> {
    for (const { child, exited } of this.#processes.values()) {
      child.kill('SIGKILL');
      await exited;
    }
    await this.user.close();
    await this.plane.stop();
    await this.nats.stop();
    await this.redis.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
