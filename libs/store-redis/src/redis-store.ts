import type { Clock } from '@sluice/runtime';
import {
  type Checkpoint,
  type Commit,
  FencedError,
  type ScopeState,
  type Store,
  type StoredEntry,
} from '@sluice/store';
import { bounded } from './bounded.ts';
import { tagged } from './keys.ts';
import { RedisStoreError } from './redis-error.ts';
import { type Argument, type Client, Script } from './script.ts';

export interface RedisStoreOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly fleet: string;
  /** How long one command may take. */
  readonly patienceMs: number;
}

const claimScript = new Script(['incarnation', 'version', 'claim']);
const verifyScript = new Script(['incarnation', 'verify'], ['no-writes']);
const commitScript = new Script(['incarnation', 'version', 'commit']);

/** Fields that Redis is asked for at once when a scope is read: it serves others in between. */
const CHUNK = 500;

/** What this process knows the scope to be at. */
interface Believed {
  readonly epoch: number;
  readonly version: string;
}

interface Claimed {
  readonly version: string;
  readonly incarnation: string;
  readonly checkpoint: Checkpoint | null;
  readonly intact: boolean;
  /** Unless there is more than was handed over with the claim. */
  readonly entries: readonly StoredEntry[] | undefined;
}

/**
 * The store in Redis. Each commit and claim gives the scope a new version, and a commit is refused unless the version
 * is the one that this process left: so commits that Redis has lost are noticed even if the offset is the same.
 *
 * A commit that rejects with anything but FencedError may have been carried out or not, or may be yet: claim again.
 */
export class RedisStore implements Store {
  readonly #options: RedisStoreOptions;
  readonly #believed = new Map<string, Believed>();

  constructor(options: RedisStoreOptions) {
    this.#options = options;
  }

  async claim(scope: string, epoch: number): Promise<ScopeState> {
    for (;;) {
      const claimed = await this.#take(scope, epoch);
      if (claimed.entries !== undefined) return this.#claimed(scope, epoch, claimed, claimed.entries);
      const entries = await this.#entries(scope);
      // A failover, a restart or somebody else's commit in between: what was read may be neither before nor after it.
      const [version, incarnation] = strings(await this.#run(verifyScript, `claim of ${scope}`, [meta], scope, []));
      if (version !== claimed.version || incarnation !== claimed.incarnation) continue;
      return this.#claimed(scope, epoch, claimed, entries);
    }
  }

  #claimed(
    scope: string,
    epoch: number,
    { version, checkpoint, intact }: Claimed,
    entries: readonly StoredEntry[],
  ): ScopeState {
    this.#believed.set(scope, { epoch, version });
    return { checkpoint, intact, entries };
  }

  async commit(commit: Commit): Promise<void> {
    const { scope, fencingToken } = commit;
    const believed = this.#believed.get(scope);
    const version = believed?.epoch === fencingToken ? believed.version : '';
    const args = commitArguments(commit, version);
    const answer = await this.#run(commitScript, `commit to ${scope}`, [meta, view], scope, args);
    const [verdict, held = ''] = strings(answer);
    if (verdict !== 'committed') throw fenced(commit, verdict, held);
    this.#believed.set(scope, { epoch: fencingToken, version: held });
  }

  async find(scope: string, prefix: string): Promise<readonly StoredEntry[]> {
    // Redis need not send the others. A key may look like a field, so the pattern alone does not tell.
    const entries = await this.#entries(scope, `*","${escapeGlob(JSON.stringify(prefix).slice(1, -1))}*`);
    return entries.filter(({ field }) => field.startsWith(prefix));
  }

  async setIfAbsent(name: string, value: string): Promise<string> {
    const { client, clock, patienceMs, fleet } = this.#options;
    const former = client.set(tagged(fleet, `settled/${name}`), value, 'NX', 'GET');
    return (await bounded(clock, patienceMs, `settling ${name}`, former)) ?? value;
  }

  async checkpoint(scope: string): Promise<Checkpoint | null> {
    const { client, clock, patienceMs } = this.#options;
    const stored = await bounded(
      clock,
      patienceMs,
      `checkpoint of ${scope}`,
      client.hget(this.#key(scope, meta), 'checkpoint'),
    );
    return stored === null ? null : (JSON.parse(stored) as Checkpoint);
  }

  async #take(scope: string, epoch: number): Promise<Claimed> {
    const answer = await this.#run(claimScript, `claim of ${scope}`, [meta, view], scope, [epoch, CHUNK]);
    if (!Array.isArray(answer)) throw new RedisStoreError('REFUSED', 'unexpected response from a Redis script');
    const [verdict, version = '', incarnation = '', checkpoint = '', intact] = strings(answer.slice(0, 5));
    const fields: unknown = answer[5];
    if (verdict === 'epoch') throw new FencedError(`${scope}: epoch ${epoch} is over, ${version} owns it`);
    return {
      version,
      incarnation,
      checkpoint: checkpoint === '' ? null : (JSON.parse(checkpoint) as Checkpoint),
      intact: intact === '1',
      entries: fields === undefined ? undefined : decodeEntries(pairs(fields)),
    };
  }

  async #entries(scope: string, pattern = '*'): Promise<readonly StoredEntry[]> {
    const { client, clock, patienceMs } = this.#options;
    // A field may come twice.
    const values = new Map<string, string>();
    let cursor = '0';
    do {
      const page = client.hscan(this.#key(scope, view), cursor, 'MATCH', pattern, 'COUNT', CHUNK);
      const [next, flat] = await bounded(clock, patienceMs, `reading ${scope}`, page);
      for (const [name, value] of pairs(flat)) values.set(name, String(value));
      cursor = next;
    } while (cursor !== '0');
    return decodeEntries(values);
  }

  #key(scope: string, part: string): string {
    return `${tagged(this.#options.fleet, scope)}:${part}`;
  }

  #run(script: Script, what: string, parts: readonly string[], scope: string, args: readonly Argument[]) {
    const { client, clock, patienceMs } = this.#options;
    const keys = parts.map((part) => this.#key(scope, part));
    return bounded(clock, patienceMs, what, script.run(client, keys, args));
  }
}

const meta = 'meta';
const view = 'view';

function commitArguments(commit: Commit, version: string): readonly Argument[] {
  const { fencingToken, expectedOffset, checkpoint, entries } = commit;
  // The last one of a field counts.
  const fields = new Map(entries.map(({ key, field, value }) => [JSON.stringify([key, field]), value]));
  const set: string[] = [];
  const removed: string[] = [];
  for (const [name, value] of fields) {
    if (value === undefined) removed.push(name);
    else set.push(name, JSON.stringify(value));
  }
  const cursor = JSON.stringify(checkpoint);
  return [
    fencingToken,
    version,
    expectedOffset,
    checkpoint.offset,
    cursor,
    set.length / 2,
    removed.length,
    ...set,
    ...removed,
  ];
}

/** Names and values of a hash, as Redis lists them. */
function pairs(flat: unknown): readonly (readonly [name: string, value: unknown])[] {
  if (!Array.isArray(flat)) throw new RedisStoreError('REFUSED', 'unexpected content of a Redis hash');
  return Array.from({ length: flat.length / 2 }, (_, i) => [String(flat[2 * i]), flat[2 * i + 1]]);
}

function decodeEntries(values: Iterable<readonly [name: string, value: unknown]>): readonly StoredEntry[] {
  return Array.from(values, ([name, value]) => {
    const [key, field] = JSON.parse(name) as [string, string];
    return { key, field, value: JSON.parse(String(value)) as unknown };
  });
}

const escapeGlob = (text: string): string => text.replace(/[\\*?[\]]/g, '\\$&');

function fenced(
  { scope, fencingToken, expectedOffset }: Commit,
  verdict: string | undefined,
  held: string,
): FencedError {
  switch (verdict) {
    case 'epoch':
      return new FencedError(`${scope}: epoch ${fencingToken} is over, ${held} owns it`);
    case 'offset':
      return new FencedError(`${scope}: the checkpoint is ${held}, not ${expectedOffset}`);
    default:
      return new FencedError(`${scope}: commits were made or lost since this owner's last one`);
  }
}

/** What a script of ours returns. */
export function strings(answer: unknown): readonly string[] {
  if (!Array.isArray(answer)) throw new RedisStoreError('REFUSED', 'unexpected response from a Redis script');
  return answer.map(String);
}
