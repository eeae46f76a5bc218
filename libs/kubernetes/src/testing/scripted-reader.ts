import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { ApiError, type ApiErrorKind } from '../api-error.ts';
import type { ClusterReader, ListPage, RawObject, WatchEvent } from '../cluster.ts';
import { Reflector } from '../reflector.ts';
import { type ReflectorOptions, wholeObject } from '../reflector-options.ts';

export const pod = (name: string, resourceVersion: string) => ({
  metadata: { namespace: 'ns', name, resourceVersion },
});
export const event = (type: 'ADDED' | 'MODIFIED' | 'DELETED', name: string, version: string): WatchEvent => ({
  type,
  object: pod(name, version),
});
export const bookmark = (resourceVersion: string): WatchEvent => ({ type: 'BOOKMARK', resourceVersion });
export const page = (items: readonly RawObject[], resourceVersion: string, continueToken = ''): ListPage => ({
  items,
  resourceVersion,
  continueToken,
});
export const error = (kind: ApiErrorKind, status: number, more: { reason?: string; retryAfterMs?: number } = {}) =>
  new ApiError('failed', { kind, status, reason: 'Test', ...more });

/** What one watch yields, in order: batches, a name that it skips, an error that ends it, or `silence`, which lasts until the end. */
export type WatchScript = readonly (readonly WatchEvent[] | { readonly skipped: string } | ApiError | 'silence')[];

/**
 * A reader that answers from a script and then stays silent. Records its requests. `current`: the cluster's resourceVersion,
 * which a reflector asks for before it resumes a watch after a failure.
 */
export function scripted(lists: readonly (ListPage | ApiError)[], watches: readonly WatchScript[], current = '1000') {
  const asked: string[] = [];
  const clock = new VirtualClock();
  let list = 0;
  let watch = 0;
  const cluster: ClusterReader = {
    watchList: true,
    identity: async () => 'uid',
    list: async (_, options) => {
      if (options.limit === 1) return page([], current);
      asked.push(`${clock.now()} list ${options.limit} ${options.continueToken}`.trim());
      const answer = lists[list++];
      if (answer === undefined) throw new Error('the script has no more lists');
      if (answer instanceof ApiError) throw answer;
      return answer;
    },
    async *watch(_, version, signal, options) {
      asked.push(`${clock.now()} watch ${version}${options?.sendInitialEvents ? ' with initial events' : ''}`);
      for (const step of watches[watch++] ?? ['silence']) {
        if (step instanceof ApiError) throw step;
        if (step === 'silence') await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        else if ('skipped' in step) options?.onSkipped?.({ ...malformed, name: step.skipped });
        else yield step;
      }
    },
  };
  return { cluster, clock, asked };
}

export const malformed = { resource: 'pods', namespace: 'ns', why: 'it has no spec' } as const;
const text = (event: WatchEvent) =>
  event.type === 'BOOKMARK' ? `BOOKMARK ${event.resourceVersion}` : `${event.type} ${nameOf(event.object)}`;
export const nameOf = (object: RawObject) => String((object.metadata as RawObject).name);

/** Runs a reflector over the script until nothing is pending, however far the clock must advance. */
export async function reflect(
  { cluster, clock, asked }: ReturnType<typeof scripted>,
  options: Partial<ReflectorOptions> = {},
  steps = 50,
) {
  const told: string[] = [];
  const reflector = new Reflector({
    cluster,
    resource: 'pods',
    decode: wholeObject,
    sink: {
      replace: (objects, version) => void told.push(`replace ${objects.map(nameOf).join(' ')} @${version}`),
      apply: (events) => void told.push(events.map(text).join(', ')),
    },
    clock,
    random: seededRandom(1),
    logger: silentLogger,
    onState: (state) => void told.push(`[${state}]`),
    onError: (_, retryInMs) => void told.push(`! ${retryInMs > 0 ? 'later' : 'now'}`),
    ...options,
  });
  const abort = new AbortController();
  const running = reflector.run(abort.signal);
  // Awaited at the end, by when it may have been rejected for long.
  running.catch(() => {});
  for (let step = 0; step < steps; step++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!clock.step()) break;
  }
  const status = reflector.status();
  abort.abort();
  await running;
  return { told, asked, status };
}
