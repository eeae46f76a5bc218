import { ApiServerHttp, FakeApiServer, isStatusError, kubeconfigOfAll } from '@sluice/fake-apiserver';
import { type Clock, seededRandom } from '@sluice/platform';
import type { ObjectChange, Playback } from '@sluice/recording';

export interface RecordedApiServers {
  /** With a context for each cluster. */
  readonly kubeconfig: object;
  close(): Promise<void>;
}

interface Options {
  readonly clock: Clock;
  /** Names by identity. */
  readonly clusters: ReadonlyMap<string, string>;
  /** Time that is shown first, and the end of the recording, in milliseconds since the Unix epoch. */
  readonly from: number;
  readonly to: number;
  /** Seconds of the recording per second; 0: it stands still. */
  readonly speed: number;
  /** Clients may change the objects that are shown, but not the recording. */
  readonly allowWrites: boolean;
  readonly onEnd: () => void;
}

const readOnly = 'a recording cannot be changed';
/** How often what has changed is shown. */
const intervalMs = 100;

/** Serves the objects of a recording, by a read-only API server for each cluster. */
export async function startRecordedApiServers(playback: Playback, options: Options): Promise<RecordedApiServers> {
  const { clock, from, to, speed, allowWrites, onEnd } = options;
  const startedAt = clock.monotonic();
  const shown = () => Math.min(to, from + (clock.monotonic() - startedAt) * speed);
  const shownClock: Clock = { ...portOf(clock), now: shown };
  const servers = new Map<string, FakeApiServer>();
  const http: ApiServerHttp[] = [];
  const urls = new Map<string, string>();
  for (const [identity, name] of options.clusters) {
    const server = new FakeApiServer({ clock: shownClock, random: seededRandom(1), features: 'storage-only' });
    server.put('namespaces', { metadata: { name: 'kube-system', uid: identity }, status: { phase: 'Active' } });
    servers.set(identity, server);
    const one = new ApiServerHttp({ server, clock: shownClock, loopbackOnly: true, ...(!allowWrites && { readOnly }) });
    http.push(one);
    urls.set(name, await one.listen());
  }
  const show = (changes: readonly ObjectChange[]) => {
    for (const change of changes) apply(servers.get(change.cluster), change);
  };
  show(playback.start);
  let cancel = () => {};
  const play = () => {
    const now = shown();
    show(playback.advance(now));
    if (now >= to) onEnd();
    else cancel = clock.schedule(intervalMs, play);
  };
  if (speed > 0) play();
  return {
    kubeconfig: kubeconfigOfAll(urls),
    async close() {
      cancel();
      await Promise.all(http.map((one) => one.close()));
    },
  };
}

const portOf = (clock: Clock): Omit<Clock, 'now'> => ({
  monotonic: () => clock.monotonic(),
  schedule: (delayMs, callback) => clock.schedule(delayMs, callback),
});

function apply(server: FakeApiServer | undefined, { resource, namespace, name, object }: ObjectChange): void {
  try {
    if (object === null) server?.delete(resource, namespace, name);
    else server?.put(resource, object);
  } catch (error) {
    // It did not exist at the start.
    if (!isStatusError(error) || error.status.code !== 404) throw error;
  }
}
