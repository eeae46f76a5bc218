import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { ServerProcess } from '../src/index.ts';
import type { Compose, ComposeService } from './compose-file.ts';

export interface ComposeRunOptions {
  readonly compose: Compose;
  readonly root: string;
  /** For data, logs, and copies of certificates and configurations. */
  readonly directory: string;
  /** What make-certificates.sh has made. */
  readonly certificates: string;
  /** Paths of the programs in the images, by name. */
  readonly programs: Readonly<Record<string, string>>;
  /** Port of loopback for each port of a container: `nats:4222`. A second replica is `worker-2`. */
  readonly ports: ReadonlyMap<string, number>;
  /** Further flags for programs that share a network here, by service. */
  readonly flags: Readonly<Record<string, readonly string[]>>;
  /** Health of services whose check needs a program that only the image has. */
  readonly healthy: Readonly<Record<string, () => Promise<boolean>>>;
}

const run = promisify(execFile);
const isConfiguration = (file: string): boolean => file === 'kubeconfig' || file.endsWith('.conf');

/**
 * Runs services of docker-compose.yml without Docker: the same programs with the same arguments, environment, configurations
 * and health checks. Host names become ports of loopback, and volumes directories.
 */
export class ComposeRun {
  readonly #options: ComposeRunOptions;
  readonly #path: string;
  readonly #processes: ServerProcess[] = [];

  constructor(options: ComposeRunOptions) {
    this.#options = options;
    const bin = join(options.directory, 'bin');
    mkdirSync(bin, { recursive: true });
    for (const [name, program] of Object.entries(options.programs)) symlinkSync(program, join(bin, name));
    this.#path = [bin, process.env.PATH].join(delimiter);
  }

  /** Starts all replicas of a service, and waits until they are healthy if it has a check. */
  async start(name: string): Promise<void> {
    const { deploy, healthcheck } = this.#service(name);
    for (let replica = 1; replica <= (deploy?.replicas ?? 1); replica++) {
      const instance = new ComposeInstance(name, replica === 1 ? name : `${name}-${replica}`, this.#options);
      const args = [...this.#environment(instance), ...instance.commandLine];
      const log = join(this.#options.directory, `${instance.name}.log`);
      const server = new ServerProcess({ name: instance.name, program: 'env', args, log });
      this.#processes.push(server);
      await server.start();
      if (healthcheck !== undefined) await server.ready(() => this.#isHealthy(name, instance));
    }
  }

  /** Runs a service that ends, and returns its standard output. Rejects if its exit status is not 0. */
  async complete(name: string): Promise<string> {
    const instance = new ComposeInstance(name, name, this.#options);
    return (await run('env', [...this.#environment(instance), ...instance.commandLine])).stdout;
  }

  /** Stops everything, in reverse order. */
  async stop(): Promise<void> {
    for (const server of this.#processes.toReversed()) await server.stop(20_000);
  }

  #service(name: string): ComposeService {
    return this.#options.compose.services[name] ?? {};
  }

  #environment({ environment }: ComposeInstance): readonly string[] {
    return [`PATH=${this.#path}`, ...environment];
  }

  async #isHealthy(name: string, instance: ComposeInstance): Promise<boolean> {
    const own = this.#options.healthy[name];
    if (own !== undefined) return own();
    const args = [...this.#environment(instance), ...instance.healthCheck];
    return run('env', args, { timeout: 5_000 }).then(
      () => true,
      () => false,
    );
  }
}

/** A container of a service as a process. */
class ComposeInstance {
  readonly name: string;
  readonly environment: readonly string[];
  readonly commandLine: readonly string[];
  readonly healthCheck: readonly string[];
  readonly #ports: ReadonlyMap<string, number>;
  readonly #paths = new Map<string, string>();

  constructor(
    service: string,
    name: string,
    { compose, root, directory, certificates, ports, flags }: ComposeRunOptions,
  ) {
    const {
      image = '',
      entrypoint,
      command = [],
      environment = {},
      volumes = [],
      healthcheck,
    } = compose.services[service] ?? {};
    this.name = name;
    this.#ports = ports;
    const configurations: string[] = [];
    for (const [source = '', target = '', mode] of volumes.map((volume) => volume.split(':'))) {
      const local = source.startsWith('.') ? join(root, source) : join(directory, 'volumes', name, source);
      this.#paths.set(target, local);
      if (source.startsWith('.')) continue;
      if (mode === 'ro') cpSync(join(certificates, source.replace(/-server$/, '')), local, { recursive: true });
      else mkdirSync(local, { recursive: true });
      configurations.push(
        ...readdirSync(local)
          .filter(isConfiguration)
          .map((file) => join(local, file)),
      );
    }
    for (const file of configurations) writeFileSync(file, this.#local(readFileSync(file, 'utf8')));
    const local = (argument: string) =>
      // Relative to the working directory of the image.
      this.#local(argument.startsWith('demo/') ? join(root, argument) : argument.replaceAll('$$', '$'));
    const program = entrypoint ?? programOf(image, root);
    this.environment = Object.entries(environment).map(([key, value]) => `${key}=${this.#local(value)}`);
    this.commandLine = [...[...program, ...command].map(local), ...(flags[service] ?? [])];
    this.healthCheck = (healthcheck?.test ?? []).slice(1).map(local);
  }

  /** The text with local paths and ports. */
  #local(text: string): string {
    let result = text;
    for (const [target, path] of this.#paths)
      result = result.replaceAll(new RegExp(`(?<![\\w./-])${target}(?![\\w-])`, 'g'), path);
    for (const [address, port] of this.#ports) {
      const [host, inside] = address.split(':');
      result = result.replaceAll(address, `127.0.0.1:${port}`);
      if (host !== this.name) continue;
      const own = [`(?<![\\w.])(?:0\\.0\\.0\\.0|127\\.0\\.0\\.1)?:${inside}\\b`, `(?<=-port[= ])${inside}\\b`];
      result = result.replaceAll(new RegExp(own[0] ?? '', 'g'), `127.0.0.1:${port}`);
      result = result.replaceAll(new RegExp(own[1] ?? '', 'g'), String(port));
    }
    // Ports that other containers publish on the host.
    for (const [address, port] of this.#ports)
      result = result.replaceAll(`127.0.0.1:${address.split(':')[1]}`, `127.0.0.1:${port}`);
    return result;
  }
}

/** What the image runs by default. */
function programOf(image: string, root: string): readonly string[] {
  if (image.startsWith('sluice:')) return ['node', join(root, 'services/sluice/src/main.ts')];
  return image.startsWith('nats:') ? ['nats-server'] : [];
}
