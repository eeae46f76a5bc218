import type { Clock } from '@sluice/runtime';
import type { GroupState, Heartbeat, Lease, Leases } from '@sluice/store';
import { bounded } from './bounded.ts';
import { tagged } from './keys.ts';
import { RedisStoreError } from './redis-error.ts';
import { strings } from './redis-store.ts';
import { type Client, Script } from './script.ts';

export interface RedisLeasesOptions {
  /** One that rejects at once while it has no connection. */
  readonly client: Client;
  /** Another, for what is told by the server; it is connected to when somebody watches. */
  readonly subscriber: Client;
  readonly clock: Clock;
  readonly fleet: string;
  readonly patienceMs: number;
}

// Few bytes, and of no more keys than before: a Redis without memory shall not also take everybody's leases away.
const heartbeatScript = new Script(['group', 'heartbeat'], ['allow-oom']);
const stateScript = new Script(['group-state'], ['no-writes']);
const leaveScript = new Script(['group', 'leave'], ['allow-oom']);

/**
 * Leases in Redis, by its clock. A heartbeat that has no answer within its ttl rejects; it may have been carried out.
 * What it renews, it renews for the ttl from some moment between its sending and its answer: count from the sending.
 */
export class RedisLeases implements Leases {
  readonly #options: RedisLeasesOptions;
  readonly #watchers = new Map<string, Set<() => void>>();

  constructor(options: RedisLeasesOptions) {
    this.#options = options;
    options.subscriber.on('message', (channel: string) => {
      for (const onChange of this.#watchers.get(channel) ?? []) onChange();
    });
  }

  async heartbeat(heartbeat: Heartbeat): Promise<GroupState> {
    const { client, clock } = this.#options;
    const { group, member, ttlMs, release, acquire, started = [], leaving = false } = heartbeat;
    const args = [member, ttlMs, leaving ? 1 : 0, release.length, started.length, ...release, ...started, ...acquire];
    const answer = heartbeatScript.run(client, this.#keys(group), args);
    return groupState(await bounded(clock, ttlMs, `heartbeat of ${member} in ${group}`, answer));
  }

  async leave(group: string, member: string): Promise<void> {
    const { client, clock, patienceMs } = this.#options;
    const answer = leaveScript.run(client, this.#keys(group), [member]);
    await bounded(clock, patienceMs, `leave of ${member} from ${group}`, answer);
  }

  async state(group: string): Promise<GroupState> {
    const { client, clock, patienceMs } = this.#options;
    return groupState(
      await bounded(clock, patienceMs, `look at ${group}`, stateScript.run(client, this.#keys(group), [])),
    );
  }

  watch(group: string, onChange: () => void): () => void {
    const [channel] = this.#keys(group);
    const watchers = this.#watchers.get(channel) ?? new Set();
    const watcher = () => onChange();
    watchers.add(watcher);
    this.#watchers.set(channel, watchers);
    // Without it changes are found out by the next heartbeat. The connection says itself that it is lost.
    if (watchers.size === 1) this.#options.subscriber.subscribe(channel).catch(() => {});
    return () => {
      watchers.delete(watcher);
    };
  }

  /** The first is also the channel on which changes are told. */
  #keys(group: string): readonly [string, string, string] {
    const tag = tagged(this.#options.fleet, `leases/${group}`);
    return [`${tag}:members`, `${tag}:leases`, `${tag}:started`];
  }
}

function groupState(answer: unknown): GroupState {
  if (!Array.isArray(answer)) throw new RedisStoreError('REFUSED', 'unexpected response from a Redis script');
  const [members, flat] = [strings(answer[0]), strings(answer[1])];
  const leases: Lease[] = [];
  for (let i = 0; i < flat.length; i += 4) {
    const [scope = '', holder = '', epoch, started] = flat.slice(i, i + 4);
    leases.push({ scope, holder, fencingToken: Number(epoch), started: started === '1' });
  }
  return { members, leases };
}
