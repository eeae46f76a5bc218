import { mkdtempSync, rmSync } from 'node:fs';
import { cp, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isApiError } from '@sluice/kubernetes';
import { type ControlPlane, type ServerProcess, startControlPlane, startKubeControllerManager } from '@sluice/local';
import { type ClusterState, compareClusters, type Difference, type NormaliseOptions, textAt } from '@sluice/shadow';
import { ApiClient } from './api-client.ts';
import { SluiceProcess } from './sluice-process.ts';
import { touchEverything } from './touch-everything.ts';

export interface PairOptions {
  /** For both; the default of the genuine controllers is 100. */
  readonly maxEndpointsPerSlice?: number;
  /** Further flags of the one that is started. */
  readonly args?: readonly string[];
}

export interface RestOptions extends NormaliseOptions {
  /** How long both may take to become equal. Default 60,000. */
  readonly limitMs?: number;
  /** So long neither side may have written anything to count as at rest. Default 1,300. */
  readonly quietMs?: number;
  /** True for differences that are known and right. */
  readonly isExplained?: (difference: Difference, genuine: ClusterState, stuckMirrors: ReadonlySet<string>) => boolean;
}

export interface Rest {
  readonly genuine: ClusterState;
  readonly sluice: ClusterState;
  /** Differences that `isExplained` does not know; empty: both sides agree. */
  readonly differences: readonly Difference[];
  readonly explained: readonly Difference[];
  /** Services whose mirroring the genuine side said to fail meanwhile by the defect of H19. */
  readonly stuckMirrors: ReadonlySet<string>;
}

/** The genuine side waits a second before it looks at a slice that a user edited (E4); and some. */
const defaultQuietMs = 1_300;
/** Before the genuine side is touched: for the news to have come to it. */
const briefMs = 300;
const pollMs = 100;

/** The genuine side overlooks some changes until the next one; and a missing Node keeps it in ever longer back-off. */
const touchAgainMs = 8_000;

/** The user's requests, to be sent to both API servers. */
export type Request = (client: ApiClient, side: Side) => Promise<unknown>;

export type Side = 'genuine' | 'sluice';

/**
 * Two control planes under RBAC. Behind one run the genuine controllers of kube-controller-manager, behind the other runs
 * Sluice as a process of its own. A user does the same on both.
 */
export class Pair {
  readonly planes: { readonly genuine: ControlPlane; readonly sluice: ControlPlane };
  readonly clients: { readonly genuine: ApiClient; readonly sluice: ApiClient };
  #peer: ServerProcess | undefined;
  #sluice: SluiceProcess | undefined;
  #peerLog = '';
  #touches = 0;
  readonly #directory: string;

  private constructor(directory: string, planes: Pair['planes'], clients: Pair['clients']) {
    this.#directory = directory;
    this.planes = planes;
    this.clients = clients;
  }

  /** Starts both control planes, without what is compared. */
  static async start(): Promise<Pair> {
    const directory = mkdtempSync(join(tmpdir(), 'sluice-differential-'));
    const plane = (name: string) => {
      return startControlPlane({ name, directory: join(directory, name), authorization: 'RBAC' });
    };
    const genuine = await plane('genuine');
    try {
      const sluice = await plane('sluice');
      const clients = {
        genuine: await ApiClient.open(genuine.adminKubeconfig),
        sluice: await ApiClient.open(sluice.adminKubeconfig),
      };
      return new Pair(directory, { genuine, sluice }, clients);
    } catch (error) {
      await genuine.stop();
      throw error;
    }
  }

  get sluice(): SluiceProcess {
    if (this.#sluice === undefined) throw new Error('Sluice has not been started');
    return this.#sluice;
  }

  /** Starts, or restarts, the genuine controllers: on their own cluster, or on the other one. */
  async startGenuine(options: PairOptions = {}, on: Side = 'genuine'): Promise<void> {
    await this.stopGenuine();
    const max = options.maxEndpointsPerSlice;
    this.#peerLog = join(this.planes[on].directory, 'kube-controller-manager.log');
    const { length: logged } = await readFile(this.#peerLog).catch(() => '');
    this.#peer = await startKubeControllerManager(this.planes[on], {
      serviceAccountCredentials: true,
      // The comparison is about what is written; with the default limits it would take hours.
      args: [
        '--kube-api-qps=1000',
        '--kube-api-burst=2000',
        ...(max === undefined ? [] : [`--max-endpoints-per-slice=${max}`]),
        ...(options.args ?? []),
      ],
    });
    await this.#genuineSynced(logged);
  }

  /** Until its three controllers know the cluster: what is made from then on is no leftover (D4). */
  async #genuineSynced(logged: number): Promise<void> {
    const limit = performance.now() + 30_000;
    for (;;) {
      const said = (await readFile(this.#peerLog)).subarray(logged).toString();
      if (said.split('"Caches are synced"').length > 3) return;
      if (performance.now() > limit) throw new Error(`kube-controller-manager does not sync; it says:\n${said}`);
      await sleep(pollMs);
    }
  }

  async stopGenuine(): Promise<void> {
    await this.#peer?.stop();
    this.#peer = undefined;
  }

  /** Starts, or restarts, Sluice: on its own cluster, or on the other one. */
  async startSluice(options: PairOptions = {}, on: Side = 'sluice'): Promise<SluiceProcess> {
    await this.stopSluice();
    const max = options.maxEndpointsPerSlice;
    const args = [...(max === undefined ? [] : ['--max-endpoints-per-slice', `${max}`]), ...(options.args ?? [])];
    this.#sluice = await SluiceProcess.start(this.planes[on].kubeconfigs.sluice, args);
    return this.#sluice;
  }

  /** The exit status. */
  async stopSluice(): Promise<number> {
    const status = (await this.#sluice?.stop()) ?? 0;
    this.#sluice = undefined;
    return status;
  }

  async killSluice(): Promise<void> {
    await this.#sluice?.kill();
    this.#sluice = undefined;
  }

  /**
   * Sends the same request to both. Returns what both refused it with, or an empty text if both took it.
   *
   * @throws Error if only one of them refused
   */
  async both(request: Request): Promise<string> {
    const [genuine, sluice] = await Promise.all([
      refusal(request(this.clients.genuine, 'genuine')),
      refusal(request(this.clients.sluice, 'sluice')),
    ]);
    if ((genuine === '') !== (sluice === '')) {
      throw new Error(`only one server refused a request; genuine: ${genuine || 'done'}; sluice: ${sluice || 'done'}`);
    }
    return genuine;
  }

  /** As `both`, for a request that must succeed. */
  async apply(request: Request): Promise<void> {
    const refused = await this.both(request);
    if (refused !== '') throw new Error(refused);
  }

  /** Makes the genuine side look at everything once more: what it overlooked until now, it then corrects. */
  touchGenuine(): Promise<void> {
    return touchEverything(this.clients.genuine, `${++this.#touches}`);
  }

  /** Waits until both sides have come to rest and agree, or for `limitMs`. */
  async rest(options: RestOptions = {}): Promise<Rest> {
    const limit = performance.now() + (options.limitMs ?? 60_000);
    const { size: logged } = await stat(this.#peerLog);
    await this.#quiet(limit, briefMs);
    await this.touchGenuine();
    let touchedAt = performance.now();
    for (;;) {
      await this.#quiet(limit, options.quietMs ?? defaultQuietMs);
      const [genuine, sluice] = await Promise.all([this.clients.genuine.state(), this.clients.sluice.state()]);
      const stuckMirrors = stuckInMirroring((await readFile(this.#peerLog)).subarray(logged).toString());
      const all = compareClusters(genuine, sluice, { triggerTime: 'drop', ...options });
      const explained = all.filter((difference) => options.isExplained?.(difference, genuine, stuckMirrors) ?? false);
      const differences = all.filter((difference) => !explained.includes(difference));
      const rest = { genuine, sluice, differences, explained, stuckMirrors };
      if (differences.length === 0 || performance.now() > limit) return rest;
      if (performance.now() - touchedAt > touchAgainMs) {
        await this.touchGenuine();
        touchedAt = performance.now();
      }
    }
  }

  /** Writes what may tell why both sides differ into the directory. */
  async keepEvidence(directory: string, { genuine, sluice, differences }: Rest): Promise<void> {
    await mkdir(directory, { recursive: true });
    const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
    await Promise.all([
      writeFile(join(directory, 'differences.json'), json(differences)),
      writeFile(join(directory, 'genuine.json'), json(genuine)),
      writeFile(join(directory, 'sluice.json'), json(sluice)),
      writeFile(join(directory, 'sluice.log'), this.#sluice?.stderr ?? ''),
      writeFile(
        join(directory, 'sluice.jsonl'),
        (this.#sluice?.lines ?? []).map((line) => JSON.stringify(line)).join('\n'),
      ),
      ...(this.#peer === undefined ? [] : [cp(this.#peerLog, join(directory, 'kube-controller-manager.log'))]),
    ]);
  }

  async #quiet(limit: number, forMs: number): Promise<void> {
    let last = '';
    let since = performance.now();
    while (performance.now() < limit) {
      const versions = await Promise.all([this.versions('genuine'), this.versions('sluice')]);
      const now = versions.join('\n');
      if (now !== last) {
        last = now;
        since = performance.now();
      } else if (performance.now() - since >= forMs) return;
      await sleep(pollMs);
    }
  }

  /** Names, uids and resourceVersions of all Endpoints and EndpointSlices of one side: equal while nobody writes. */
  async versions(side: Side): Promise<string> {
    const client = this.clients[side];
    const lists = await Promise.all([client.list('endpoints'), client.list('endpointslices')]);
    return lists
      .flat()
      .map(({ metadata }) => `${textAt(metadata, 'uid')} ${textAt(metadata, 'resourceVersion')}`)
      .sort()
      .join('\n');
  }

  async stop(): Promise<void> {
    await this.#sluice?.kill();
    await this.stopGenuine();
    await Promise.all([this.clients.genuine.close(), this.clients.sluice.close()]);
    await Promise.all([this.planes.genuine.stop(), this.planes.sluice.stop()]);
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

async function refusal(answer: Promise<unknown>): Promise<string> {
  try {
    await answer;
    return '';
  } catch (error) {
    // A broken connection or a failing server is a broken test, not an answer.
    if (isApiError(error) && error.status >= 400 && error.status < 500) return error.message;
    throw error;
  }
}

/** The Services of which the genuine mirroring says that it cannot create a slice under the name that it gave it. */
export function stuckInMirroring(log: string): ReadonlySet<string> {
  const failures = log.matchAll(
    /"Error mirroring EndpointSlices for Endpoints, retrying" key="([^"]+)" err=".*already exists, the server was not able to generate a unique name/g,
  );
  return new Set([...failures].map(([, key = '']) => key));
}
