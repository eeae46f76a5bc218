import type { Clock } from '@sluice/runtime';
import type { GroupState, Heartbeat, KeepAlive, KeepAliveOptions, Lease, Leases } from '@sluice/store';
import { hashTagged } from './keys.ts';
import type { LeaseThreadClient } from './lease-thread.ts';
import { RedisStoreError } from './redis-error.ts';
import { strings } from './redis-store.ts';
import { type Client, Script } from './script.ts';
import { withTimeout } from './with-timeout.ts';

export interface RedisLeasesOptions {
  /** Must reject commands at once while disconnected. */
  readonly client: Client;
  /** Separate client for Pub/Sub; connects on the first watch. */
  readonly subscriber: Client;
  /** Undefined: only heartbeats renew leases. */
  readonly thread?: LeaseThreadClient | undefined;
  readonly clock: Clock;
  readonly fleet: string;
  readonly commandTimeoutMs: number;
}

/** Socket timeout of the leases' connections, in milliseconds: short, because heartbeats are small and frequent. */
export const leasesTimeoutMs = 2000;

// allow-oom: heartbeats add few bytes and no keys, and a Redis without memory must not make all leases expire.
const heartbeatScript = new Script(['group', 'heartbeat'], ['allow-oom']);
const stateScript = new Script(['group-state'], ['no-writes']);
const leaveScript = new Script(['group', 'leave'], ['allow-oom']);

/**
 * Leases in Redis, on the server's clock. A heartbeat without an answer within its TTL rejects, but Redis may have executed
 * it. Leases are renewed at some time between sending and answer, so callers count the TTL from the sending.
 */
export class RedisLeases implements Leases {
  readonly keepAlive?: (options: KeepAliveOptions) => KeepAlive;
  readonly #options: RedisLeasesOptions;
  readonly #watchers = new Map<string, Set<() => void>>();

  constructor(options: RedisLeasesOptions) {
    this.#options = options;
    const { thread } = options;
    if (thread !== undefined) this.keepAlive = (group) => thread.keepAlive(group);
    options.subscriber.on('message', (channel: string) => {
      for (const onChange of this.#watchers.get(channel) ?? []) onChange();
    });
  }

  async heartbeat(heartbeat: Heartbeat): Promise<GroupState> {
    const { client, clock } = this.#options;
    const { group, member, ttlMs, release, acquire, started = [], leaving, disconnected } = heartbeat;
    const state = leaving ? 'leaving' : disconnected ? 'disconnected' : '';
    const args = [member, ttlMs, state, release.length, started.length, ...release, ...started, ...acquire];
    const answer = heartbeatScript.run(client, this.#keys(group), args);
    return groupState(await withTimeout(clock, ttlMs, `heartbeat of ${member} in ${group}`, answer));
  }

  async leave(group: string, member: string): Promise<void> {
    const { client, clock, commandTimeoutMs } = this.#options;
    const answer = leaveScript.run(client, this.#keys(group), [member]);
    await withTimeout(clock, commandTimeoutMs, `leave of ${member} from ${group}`, answer);
  }

  async state(group: string): Promise<GroupState> {
    const { client, clock, commandTimeoutMs } = this.#options;
    return groupState(
      await withTimeout(
        clock,
        commandTimeoutMs,
        `reading group ${group}`,
        stateScript.run(client, this.#keys(group), []),
      ),
    );
  }

  watch(group: string, onChange: () => void): () => void {
    const [channel] = this.#keys(group);
    const watchers = this.#watchers.get(channel) ?? new Set();
    const watcher = () => onChange();
    watchers.add(watcher);
    this.#watchers.set(channel, watchers);
    // Without a subscription the next heartbeat finds changes. Connection losses are logged by the client's owner.
    if (watchers.size === 1) this.#options.subscriber.subscribe(channel).catch(() => {});
    return () => {
      watchers.delete(watcher);
    };
  }

  #keys(group: string): readonly [string, string, string] {
    return groupKeys(this.#options.fleet, group);
  }
}

/** The first key is also the Pub/Sub channel for changes. */
export function groupKeys(fleet: string, group: string): readonly [string, string, string] {
  const tag = hashTagged(fleet, `leases/${group}`);
  return [`${tag}:members`, `${tag}:leases`, `${tag}:started`];
}

function groupState(answer: unknown): GroupState {
  if (!Array.isArray(answer)) throw new RedisStoreError('REFUSED', 'unexpected response from a Redis script');
  const [members, flat, disconnected] = [strings(answer[0]), strings(answer[1]), strings(answer[2])];
  const leases: Lease[] = [];
  for (let i = 0; i < flat.length; i += 4) {
    const [scope = '', holder = '', epoch, started] = flat.slice(i, i + 4);
    leases.push({ scope, holder, fencingToken: Number(epoch), started: started === '1' });
  }
  const nextExpiry = { member: String(answer[4]), inMs: Number(answer[3] ?? -1) };
  return { members, disconnected, leases, ...(nextExpiry.inMs >= 0 && { nextExpiry }) };
}
