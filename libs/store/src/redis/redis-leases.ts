import { createHash } from 'node:crypto';
import type { GroupState, Heartbeat, KeepAlive, KeepAliveOptions, Lease, Leases } from '../index.ts';
import type { LeaseThreadClient } from './lease-thread.ts';
import { readGroup } from './read-group.ts';
import { RedisStoreError, stalledOf, stalledText, withTimeout } from './redis-error.ts';
import { type Client, type Commands, type GroupKeys, groupKeys, listOf, pairs, Script, strings } from './script.ts';

interface Options extends Commands {
  /** Separate client for Pub/Sub; connects on the first watch. */
  readonly subscriber: Client;
  /** Undefined: only heartbeats renew leases. */
  readonly thread?: LeaseThreadClient | undefined;
}

/** Socket timeout of the leases' connections, in milliseconds: short, because heartbeats are small and frequent. */
export const leasesTimeoutMs = 2000;

// allow-oom: heartbeats add few bytes and no keys, and a Redis without memory must not make all leases expire.
const heartbeatScript = new Script(['hashes', 'alive-until', 'group', 'heartbeat'], ['allow-oom']);
const leaveScript = new Script(['hashes', 'alive-until', 'group', 'leave'], ['allow-oom']);

/**
 * Leases in Redis, on the server's clock. A heartbeat without an answer within its TTL rejects, but Redis may have executed
 * it. Leases are renewed at some time between sending and answer, so callers count the TTL from the sending.
 */
export class RedisLeases implements Leases {
  readonly keepAlive?: (options: KeepAliveOptions) => KeepAlive;
  readonly #options: Options;
  readonly #watchers = new Map<string, Set<() => void>>();
  /** What the last heartbeat of each member of this process has answered, by group and member. */
  readonly #known = new Map<string, Known>();
  #changes = 0;

  /** The client must reject commands at once while disconnected. */
  constructor(options: Options) {
    this.#options = options;
    const { thread } = options;
    if (thread !== undefined) this.keepAlive = (group) => thread.keepAlive(group);
    options.subscriber.on('message', (channel: string) => {
      for (const onChange of this.#watchers.get(channel) ?? []) onChange();
    });
  }

  async heartbeat(heartbeat: Heartbeat): Promise<GroupState> {
    const { group, member, serves } = heartbeat;
    const name = `${group} ${member}`;
    const known = this.#known.get(name);
    const isKnown = serves !== undefined && serves === known?.serves;
    const digest = serves === undefined ? '' : isKnown ? known.digest : digestOf(textOf(serves));
    let answer = await this.#heartbeat(heartbeat, known, digest, '');
    if (answer.length === 0) answer = await this.#heartbeat(heartbeat, known, digest, textOf(serves ?? []));
    const state = groupState(answer, known?.state);
    this.#known.set(name, { state, serves, digest });
    const [, inMs, next] = answer;
    const unreadable = Number(answer[7] ?? 0);
    if (Number(inMs) < 0 && unreadable === 0) return state;
    return {
      ...state,
      ...(Number(inMs) >= 0 && { nextExpiry: { member: String(next), inMs: Number(inMs) } }),
      ...(unreadable > 0 && { unreadable }),
    };
  }

  /** `scopes`: those that the member can serve, for a server that does not know their digest. */
  async #heartbeat(
    heartbeat: Heartbeat,
    known: Known | undefined,
    digest: string,
    scopes: string,
  ): Promise<readonly unknown[]> {
    const { client, clock } = this.#options;
    const { group, member, ttlMs, release, acquire, leaving, stalled = [] } = heartbeat;
    const { started = [], prepared = [] } = heartbeat;
    const args = [
      ...[member, ttlMs, leaving ? 'leaving' : stalledText(stalled), digest, scopes],
      ...[known?.state.version ?? '', this.#nameChange(member)],
      ...[release.length, started.length, prepared.length, ...release, ...started, ...prepared, ...acquire],
    ];
    const answer = heartbeatScript.run(client, this.#keys(group), args);
    return listOf(await withTimeout({ clock, commandTimeoutMs: ttlMs }, `heartbeat of ${member} in ${group}`, answer));
  }

  /** Unique in the fleet, because the name of a member is. */
  #nameChange(member: string): string {
    return `${member} ${++this.#changes}`;
  }

  async leave(group: string, member: string): Promise<void> {
    this.#known.delete(`${group} ${member}`);
    const answer = leaveScript.run(this.#options.client, this.#keys(group), [member, this.#nameChange(member)]);
    await withTimeout(this.#options, `leave of ${member} from ${group}`, answer);
  }

  async state(group: string): Promise<GroupState> {
    const { client } = this.#options;
    return withTimeout(this.#options, `reading group ${group}`, readGroup(client, this.#keys(group)));
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

  #keys(group: string): GroupKeys {
    return groupKeys(this.#options.fleet, group);
  }
}

/** What a member knows of its group. */
interface Known {
  readonly state: GroupState;
  readonly serves: readonly string[] | undefined;
  /** Of `serves`. */
  readonly digest: string;
}

/** Never empty. */
const textOf = (scopes: readonly string[]): string => `${scopes.toSorted().join('\n')}\n`;

const digestOf = (text: string): string => createHash('sha1').update(text).digest('hex');

/** The answer to a heartbeat: only the version if the member knows it. */
function groupState(answer: readonly unknown[], known: GroupState | undefined): GroupState {
  const version = String(answer[0]);
  const [members, leases, states, scopes] = answer.slice(3);
  if (members === undefined) {
    if (known?.version !== version) throw new RedisStoreError('REFUSED', 'unexpected response from Redis');
    return known;
  }
  const served = new Map(pairs(scopes).map(([digest, text]) => [digest, text.split('\n').filter((one) => one !== '')]));
  const described = pairs(members);
  const serves = described.flatMap(([member, digest]) =>
    digest === '' ? [] : [[member, served.get(digest) ?? []] as const],
  );
  return {
    version,
    members: described.map(([member]) => member),
    ...stalledOf(pairs(states)),
    leases: leasesOf(leases),
    ...(serves.length > 0 && { serves: new Map(serves) }),
  };
}

function leasesOf(answer: unknown): readonly Lease[] {
  const flat = strings(answer);
  const leases: Lease[] = [];
  for (let i = 0; i < flat.length; i += 5) {
    const [scope = '', holder = '', fencingToken, started, preparedBy = ''] = flat.slice(i, i + 5);
    const lease = { scope, holder, fencingToken: Number(fencingToken), started: started === '1' };
    leases.push(preparedBy === '' ? lease : { ...lease, preparedBy });
  }
  return leases;
}
