import { asRecord } from '@sluice/platform';
import { type Checkpoint, type Commit, FencedError, type ScopeState, type Store, type StoredEntry } from '../index.ts';
import { withTimeout } from './redis-error.ts';
import { type Argument, type Commands, hashTagged, listOf, pairs, Script, strings } from './script.ts';

const claimScript = new Script(['incarnation', 'version', 'claim']);
const verifyScript = new Script(['incarnation', 'verify'], ['no-writes']);
const discardScript = new Script(['discard']);
const commitScript = new Script(['incarnation', 'version', 'commit']);

/** Fields per HSCAN when a scope is read, so that Redis can serve other clients in between. */
const CHUNK = 500;

/** The state in which this process last left the scope. */
interface KnownVersion {
  readonly fencingToken: number;
  readonly version: string;
}

interface Claimed {
  readonly version: string;
  readonly incarnation: string;
  /** Undefined if it is unreadable. */
  readonly checkpoint: Checkpoint | null | undefined;
  readonly intact: boolean;
  /** Undefined if the scope has more fields than the claim returns at once. */
  readonly entries: Entries | undefined;
}

interface Entries {
  readonly readable: readonly StoredEntry[];
  /** Names of fields that are no entries. */
  readonly unreadable: readonly string[];
}

/**
 * The store in Redis. Each commit and claim gives the scope a new version, and a commit fails unless the version is the one
 * that this process left. This detects commits that Redis has lost even if the offset is the same.
 *
 * If a commit rejects with anything but FencedError, Redis may have executed it or may still execute it: claim again.
 */
export class RedisStore implements Store {
  readonly #options: Commands;
  readonly #known = new Map<string, KnownVersion>();

  constructor(options: Commands) {
    this.#options = options;
  }

  async claim(scope: string, fencingToken: number): Promise<ScopeState> {
    for (let discarded = false; ; ) {
      const claimed = await this.#claim(scope, fencingToken);
      const { version, incarnation, checkpoint, intact } = claimed;
      let { entries } = claimed;
      if (entries === undefined) {
        entries = await this.#entries(scope);
        // After a failover, a restart or another owner's commit in between, the entries may be inconsistent: claim again.
        const current = strings(await this.#run(verifyScript, `claim of ${scope}`, [meta], scope, []));
        if (current[0] !== version || current[1] !== incarnation) continue;
      }
      if (!discarded && (checkpoint === undefined || entries.unreadable.length > 0)) {
        // Once only: the name of a field that is not UTF-8 cannot be repeated.
        discarded = true;
        await this.#run(discardScript, `claim of ${scope}`, [meta, view], scope, [version, ...entries.unreadable]);
        continue;
      }
      this.#known.set(scope, { fencingToken, version });
      return { checkpoint: checkpoint ?? null, intact, entries: entries.readable };
    }
  }

  async commit(commit: Commit): Promise<void> {
    const { scope, fencingToken } = commit;
    const known = this.#known.get(scope);
    const version = known?.fencingToken === fencingToken ? known.version : '';
    const args = commitArguments(commit, version);
    const answer = await this.#run(commitScript, `commit to ${scope}`, [meta, view], scope, args);
    const [verdict, held = ''] = strings(answer);
    if (verdict !== 'committed') throw fenced(commit, verdict, held);
    this.#known.set(scope, { fencingToken, version: held });
  }

  async find(scope: string, prefix: string): Promise<readonly StoredEntry[]> {
    // The pattern only reduces what Redis sends: it can match inside a key too, so the fields are filtered here.
    const entries = await this.#entries(scope, `*","${escapeGlob(JSON.stringify(prefix).slice(1, -1))}*`);
    return entries.readable.filter(({ field }) => field.startsWith(prefix));
  }

  async setIfAbsent(name: string, value: string): Promise<string> {
    const { client, fleet } = this.#options;
    const existing = client.set(hashTagged(fleet, `settled/${name}`), value, 'NX', 'GET');
    return (await withTimeout(this.#options, `setting ${name}`, existing)) ?? value;
  }

  async checkpoint(scope: string): Promise<Checkpoint | null> {
    const found = this.#options.client.hget(this.#key(scope, meta), 'checkpoint');
    const stored = await withTimeout(this.#options, `checkpoint of ${scope}`, found);
    return decodeCheckpoint(stored) ?? null;
  }

  async #claim(scope: string, fencingToken: number): Promise<Claimed> {
    const answer = await this.#run(claimScript, `claim of ${scope}`, [meta, view], scope, [fencingToken, CHUNK]);
    const [verdict, version = '', incarnation = '', stored = '', intact, offset = ''] = strings(answer);
    const fields = listOf(answer)[6];
    if (verdict === 'fencingToken') throw staleToken(scope, fencingToken, version);
    const checkpoint = decodeCheckpoint(stored === '' ? null : stored);
    return {
      version,
      incarnation,
      // The script of a commit compares the offset, the owner knows the one of the checkpoint.
      checkpoint: String(checkpoint?.offset ?? 0) === offset ? checkpoint : undefined,
      intact: intact === '1',
      entries: fields === undefined ? undefined : decodeEntries(pairs(fields)),
    };
  }

  async #entries(scope: string, pattern = '*'): Promise<Entries> {
    const { client } = this.#options;
    // HSCAN may return a field more than once.
    const values = new Map<string, string>();
    let cursor = '0';
    do {
      const page = client.hscan(this.#key(scope, view), cursor, 'MATCH', pattern, 'COUNT', CHUNK);
      const [next, flat] = await withTimeout(this.#options, `reading ${scope}`, page);
      for (const [name, value] of pairs(flat)) values.set(name, value);
      cursor = next;
    } while (cursor !== '0');
    return decodeEntries(values);
  }

  #key(scope: string, part: string): string {
    return `${hashTagged(this.#options.fleet, scope)}:${part}`;
  }

  #run(script: Script, what: string, parts: readonly string[], scope: string, args: readonly Argument[]) {
    const keys = parts.map((part) => this.#key(scope, part));
    return withTimeout(this.#options, what, script.run(this.#options.client, keys, args));
  }
}

const meta = 'meta';
const view = 'view';

function commitArguments(commit: Commit, version: string): readonly Argument[] {
  const { fencingToken, expectedOffset, checkpoint, entries } = commit;
  // Of several entries for one field the last one counts.
  const fields = new Map(entries.map(({ key, field, value }) => [JSON.stringify([key, field]), value]));
  const set: string[] = [];
  const removed: string[] = [];
  for (const [name, value] of fields) {
    if (value === undefined) removed.push(name);
    else set.push(name, JSON.stringify(value));
  }
  const encodedCheckpoint = JSON.stringify(checkpoint);
  return [
    fencingToken,
    version,
    expectedOffset,
    checkpoint.offset,
    encodedCheckpoint,
    set.length / 2,
    removed.length,
    ...set,
    ...removed,
  ];
}

function decodeEntries(values: Iterable<readonly [name: string, value: string]>): Entries {
  const readable: StoredEntry[] = [];
  const unreadable: string[] = [];
  for (const [name, value] of values) {
    const [key, field] = asArray(decodeValue(name));
    if (typeof key === 'string' && typeof field === 'string') readable.push({ key, field, value: decodeValue(value) });
    else unreadable.push(name);
  }
  return { readable, unreadable };
}

/** Undefined if it is unreadable; null if there is none. */
function decodeCheckpoint(text: string | null): Checkpoint | null | undefined {
  if (text === null) return null;
  const { offset, id, streamId } = asRecord(decodeValue(text));
  const isCheckpoint = Number.isSafeInteger(offset) && typeof id === 'string' && typeof streamId === 'string';
  return isCheckpoint ? { offset: offset as number, id, streamId } : undefined;
}

const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Null if the value is not JSON; its owner finds it unreadable. */
function decodeValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

const escapeGlob = (text: string): string => text.replace(/[\\*?[\]]/g, '\\$&');

function fenced(
  { scope, fencingToken, expectedOffset }: Commit,
  verdict: string | undefined,
  held: string,
): FencedError {
  switch (verdict) {
    case 'fencingToken':
      return staleToken(scope, fencingToken, held);
    case 'offset':
      return new FencedError(`${scope}: expected offset ${expectedOffset}, but the checkpoint is at ${held}`);
    default:
      return new FencedError(`${scope}: commits were made or lost since this process's last commit`);
  }
}

function staleToken(scope: string, fencingToken: number, current: string): FencedError {
  return new FencedError(`${scope}: fencing token ${fencingToken} is stale; the scope is claimed under ${current}`);
}
