import { mkdtempSync, rmSync } from 'node:fs';
import { cp, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isApiError } from '@sluice/kubernetes';
import {
  type ControlPlane,
  kubernetesUnderTest,
  type ServerProcess,
  startControlPlane,
  startKubeControllerManager,
} from '@sluice/local';
import { type ClusterState, compareClusters, type Difference, type NormaliseOptions, textAt } from '@sluice/shadow';
import { hasOtherPortOrder } from '../compatibility/releases.ts';
import { ApiClient } from './api-client.ts';
import { SluiceProcess } from './sluice-process.ts';
import { touchAllObjects } from './touch-all-objects.ts';

export interface PairOptions {
  /** For both sides; the default is 100. */
  readonly maxEndpointsPerSlice?: number;
  /** Additional flags of the started program. */
  readonly args?: readonly string[];
}

export interface ConvergeOptions extends NormaliseOptions {
  /** Maximum wait for convergence. Default 60,000. */
  readonly limitMs?: number;
  /** Neither side has written anything for this long. Default 1,300. */
  readonly quietMs?: number;
  /** Returns true for differences that are known and correct. */
  readonly isExplained?: (difference: Difference, upstream: ClusterState, stuckMirrors: ReadonlySet<string>) => boolean;
}

export interface Comparison {
  readonly upstream: ClusterState;
  readonly sluice: ClusterState;
  /** Differences that `isExplained` rejects; empty if both sides agree. */
  readonly differences: readonly Difference[];
  readonly explained: readonly Difference[];
  /** Services whose mirroring failed upstream because of H19, according to its log. */
  readonly stuckMirrors: ReadonlySet<string>;
}

/** Upstream waits a second before it syncs a slice that a user edited (E4). */
const defaultQuietMs = 1_300;
/** Time for events to arrive before upstream is made to sync again. */
const briefMs = 300;
const pollMs = 100;

/** Upstream misses some changes until another event arrives, and a missing Node keeps it in exponential backoff. */
const touchAgainMs = 8_000;

/** A request of the user, sent to both API servers. */
export type Request = (client: ApiClient, side: Side) => Promise<unknown>;

export type Side = 'upstream' | 'sluice';

/**
 * Two control planes with RBAC. The upstream controllers of kube-controller-manager run on one, Sluice on the other.
 * Every request of the user goes to both.
 */
export class Pair {
  readonly planes: { readonly upstream: ControlPlane; readonly sluice: ControlPlane };
  readonly clients: { readonly upstream: ApiClient; readonly sluice: ApiClient };
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

  /** Starts both control planes, but neither controller. */
  static async start(): Promise<Pair> {
    const directory = mkdtempSync(join(tmpdir(), 'sluice-differential-'));
    const plane = (name: string) => {
      return startControlPlane({ name, directory: join(directory, name), authorization: 'RBAC' });
    };
    const upstream = await plane('upstream');
    try {
      const sluice = await plane('sluice');
      const clients = {
        upstream: await ApiClient.open(upstream.adminKubeconfig),
        sluice: await ApiClient.open(sluice.adminKubeconfig),
      };
      return new Pair(directory, { upstream, sluice }, clients);
    } catch (error) {
      await upstream.stop();
      throw error;
    }
  }

  get sluice(): SluiceProcess {
    if (this.#sluice === undefined) throw new Error('Sluice is not running');
    return this.#sluice;
  }

  /** Starts or restarts the upstream controllers, on either cluster. */
  async startUpstream(options: PairOptions = {}, on: Side = 'upstream'): Promise<void> {
    await this.stopUpstream();
    const max = options.maxEndpointsPerSlice;
    this.#peerLog = join(this.planes[on].directory, 'kube-controller-manager.log');
    const { length: logged } = await readFile(this.#peerLog).catch(() => '');
    this.#peer = await startKubeControllerManager(this.planes[on], {
      serviceAccountCredentials: true,
      // The default client rate limits would make the comparison take hours.
      args: [
        '--kube-api-qps=1000',
        '--kube-api-burst=2000',
        ...(max === undefined ? [] : [`--max-endpoints-per-slice=${max}`]),
        ...(options.args ?? []),
      ],
    });
    await this.#upstreamSynced(logged);
  }

  /**
   * Waits until the caches of its three controllers are synced. Later objects do not count as present at startup (D4).
   */
  async #upstreamSynced(logged: number): Promise<void> {
    const limit = performance.now() + 180_000;
    for (;;) {
      const said = (await readFile(this.#peerLog)).subarray(logged).toString();
      if (said.split('"Caches are synced"').length > 3) return;
      if (performance.now() > limit)
        throw new Error(`timed out waiting for kube-controller-manager to sync its caches; its log:\n${said}`);
      await sleep(pollMs);
    }
  }

  async stopUpstream(): Promise<void> {
    await this.#peer?.stop();
    this.#peer = undefined;
  }

  /** Starts or restarts Sluice, on either cluster. */
  async startSluice(options: PairOptions = {}, on: Side = 'sluice'): Promise<SluiceProcess> {
    await this.stopSluice();
    const max = options.maxEndpointsPerSlice;
    const args = [...(max === undefined ? [] : ['--max-endpoints-per-slice', `${max}`]), ...(options.args ?? [])];
    this.#sluice = await SluiceProcess.start(this.planes[on].kubeconfigs.sluice, args);
    return this.#sluice;
  }

  /** Returns the exit status. */
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
   * Sends the same request to both API servers. Returns the reason if both rejected it, or an empty string if both
   * accepted it.
   *
   * @throws Error if only one of them rejected it
   */
  async both(request: Request): Promise<string> {
    const [upstream, sluice] = await Promise.all([
      refusal(request(this.clients.upstream, 'upstream')),
      refusal(request(this.clients.sluice, 'sluice')),
    ]);
    if ((upstream === '') !== (sluice === '')) {
      throw new Error(
        `only one API server rejected the request; upstream: ${upstream || 'accepted'}; sluice: ${sluice || 'accepted'}`,
      );
    }
    return upstream;
  }

  /** Like `both`, for a request that must be accepted. */
  async apply(request: Request): Promise<void> {
    const refused = await this.both(request);
    if (refused !== '') throw new Error(refused);
  }

  /** Makes the upstream controllers sync every object, so that they correct what they missed. */
  touchUpstream(): Promise<void> {
    return touchAllObjects(this.clients.upstream, `${++this.#touches}`);
  }

  /** Waits until both sides are quiescent and agree, or for `limitMs`. */
  async converge(options: ConvergeOptions = {}): Promise<Comparison> {
    const limit = performance.now() + (options.limitMs ?? 180_000);
    const { size: logged } = await stat(this.#peerLog);
    await this.#quiet(limit, briefMs);
    await this.touchUpstream();
    let touchedAt = performance.now();
    for (;;) {
      await this.#quiet(limit, options.quietMs ?? defaultQuietMs);
      const [upstream, sluice] = await Promise.all([this.clients.upstream.state(), this.clients.sluice.state()]);
      const stuckMirrors = stuckInMirroring((await readFile(this.#peerLog)).subarray(logged).toString());
      const anyPortOrder = hasOtherPortOrder(kubernetesUnderTest());
      const all = compareClusters(upstream, sluice, { triggerTime: 'drop', anyPortOrder, ...options });
      const explained = all.filter((difference) => options.isExplained?.(difference, upstream, stuckMirrors) ?? false);
      const differences = all.filter((difference) => !explained.includes(difference));
      const comparison = { upstream, sluice, differences, explained, stuckMirrors };
      if (differences.length === 0 || performance.now() > limit) return comparison;
      if (performance.now() - touchedAt > touchAgainMs) {
        await this.touchUpstream();
        touchedAt = performance.now();
      }
    }
  }

  /** Writes differences, states and logs of both sides to the directory. */
  async keepEvidence(directory: string, { upstream, sluice, differences }: Comparison): Promise<void> {
    await mkdir(directory, { recursive: true });
    const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
    await Promise.all([
      writeFile(join(directory, 'differences.json'), json(differences)),
      writeFile(join(directory, 'upstream.json'), json(upstream)),
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
      const versions = await Promise.all([this.versions('upstream'), this.versions('sluice')]);
      const now = versions.join('\n');
      if (now !== last) {
        last = now;
        since = performance.now();
      } else if (performance.now() - since >= forMs) return;
      await sleep(pollMs);
    }
  }

  /** UIDs and resourceVersions of all Endpoints and EndpointSlices of one side. Equal as long as nothing is written. */
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
    await this.stopUpstream();
    await Promise.all([this.clients.upstream.close(), this.clients.sluice.close()]);
    await Promise.all([this.planes.upstream.stop(), this.planes.sluice.stop()]);
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

async function refusal(answer: Promise<unknown>): Promise<string> {
  try {
    await answer;
    return '';
  } catch (error) {
    // A broken connection or a failing server is a broken test, not a rejection.
    if (isApiError(error) && error.status >= 400 && error.status < 500) return error.message;
    throw error;
  }
}

/** The Services for which upstream mirroring logs that it cannot create a slice under the name it chose. */
function stuckInMirroring(log: string): ReadonlySet<string> {
  const failures = log.matchAll(
    /"Error mirroring EndpointSlices for Endpoints, retrying" key="([^"]+)" err=".*already exists, the server was not able to generate a unique name/g,
  );
  return new Set([...failures].map(([, key = '']) => key));
}
