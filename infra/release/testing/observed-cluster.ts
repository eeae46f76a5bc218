import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { ApiServerHttp, FakeApiServer, kubeconfigOf, populate } from '@sluice/fake-apiserver';
import { seededRandom } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';

/** How users call an installed Sluice: the program, what precedes the arguments, and $PATH. */
export interface Installed {
  readonly file: string;
  readonly args?: readonly string[];
  readonly path: string;
  /** A file that is in the directory. */
  readonly download?: string;
}

/** A cluster without controllers that has a Service with two Pods, and a directory for each program that observes it. */
export class ObservedCluster {
  readonly #directory: string;
  readonly #http: ApiServerHttp;
  readonly #kubeconfig: string;
  readonly #service: string;

  constructor(directory: string) {
    const server = new FakeApiServer({ clock: systemClock, random: seededRandom(1) });
    const { services } = populate(server, { services: 1, podsPerService: 2, now: systemClock.now() });
    this.#service = services.map(({ namespace, name }) => `${namespace}/${name}`).join();
    this.#directory = directory;
    this.#http = new ApiServerHttp({ server, clock: systemClock });
    this.#kubeconfig = join(directory, 'kubeconfig');
  }

  async listen(): Promise<void> {
    mkdirSync(this.#directory, { recursive: true });
    writeFileSync(this.#kubeconfig, JSON.stringify(kubeconfigOf(await this.#http.listen(), 'prod')), { mode: 0o600 });
  }

  /** Runs `observe` of an installed Sluice in an otherwise empty directory, and lets `use` ask `explain`, which answers nothing before it can. */
  async whileObserving(
    { file, args = [], path, download }: Installed,
    use: (explain: () => Promise<string>) => Promise<void>,
  ): Promise<void> {
    const home = mkdtempSync(join(this.#directory, 'home-'));
    if (download !== undefined) copyFileSync(download, join(home, basename(download)));
    const env = { PATH: path, HOME: home, KUBECONFIG: this.#kubeconfig, npm_config_offline: 'true' };
    const observer = spawn(file, [...args, 'observe', '--metrics-bind-address', '127.0.0.1:0'], {
      ...{ cwd: home, env, stdio: ['ignore', 'pipe', 'inherit'], detached: true },
    });
    try {
      const question = [...args, 'explain', this.#service, '--console', await consoleOf(observer)];
      const explain = () =>
        promisify(execFile)(file, question, { cwd: home, env }).then(
          ({ stdout }) => stdout,
          () => '',
        );
      await use(explain);
    } finally {
      // npx runs it as a child.
      if (observer.pid !== undefined) process.kill(-observer.pid);
    }
  }

  close(): Promise<void> {
    return this.#http.close();
  }
}

/** The address of the console that a process prints. */
export async function consoleOf(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no standard output');
  for await (const line of createInterface(child.stdout)) {
    const [address] = /(?<=Console: )http[^" ]+/.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error('sluice printed no console address');
}
