import type { Clock } from '@sluice/runtime';
import {
  type Checkpoint,
  type Commit,
  FencedError,
  type OutboxEntry,
  type ScopeState,
  type Store,
  type StoredEntry,
} from '@sluice/store';
import { bounded } from './bounded.ts';
import { decodeFrame, encodeFrame } from './frame.ts';
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
  readonly contents: Pick<ScopeState, 'entries' | 'outbox'> | undefined;
}

/**
 * The store in Redis. Each commit and claim gives the scope a new version, and a commit is refused unless the version
 * is the one that this process left: so commits that Redis has lost are noticed even if the position is the same.
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
      if (claimed.contents !== undefined) return this.#claimed(scope, epoch, claimed, claimed.contents);
      const contents = { entries: await this.#entries(scope), outbox: await this.#outbox(scope) };
      // A failover, a restart or somebody else's commit in between: what was read may be neither before nor after it.
      const [version, incarnation] = strings(await this.#run(verifyScript, `claim of ${scope}`, [meta], scope, []));
      if (version !== claimed.version || incarnation !== claimed.incarnation) continue;
      return this.#claimed(scope, epoch, claimed, contents);
    }
  }

  #claimed(
    scope: string,
    epoch: number,
    { version, checkpoint, intact }: Claimed,
    contents: Pick<ScopeState, 'entries' | 'outbox'>,
  ): ScopeState {
    this.#believed.set(scope, { epoch, version });
    return { checkpoint, intact, ...contents };
  }

  async commit(commit: Commit): Promise<void> {
    const { scope, epoch } = commit;
    const believed = this.#believed.get(scope);
    const version = believed?.epoch === epoch ? believed.version : '';
    const keys = [meta, view, outbox];
    const answer = await this.#run(commitScript, `commit to ${scope}`, keys, scope, commitArguments(commit, version));
    const [verdict, held = ''] = strings(answer);
    if (verdict !== 'committed') throw fenced(commit, verdict, held);
    this.#believed.set(scope, { epoch, version: held });
  }

  async find(scope: string, prefix: string): Promise<readonly StoredEntry[]> {
    // Redis need not send the others. A key may look like a field, so the pattern alone does not tell.
    const entries = await this.#entries(scope, `*","${escapeGlob(JSON.stringify(prefix).slice(1, -1))}*`);
    return entries.filter(({ field }) => field.startsWith(prefix));
  }

  async settle(name: string, value: string): Promise<string> {
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
    const { client, clock, patienceMs } = this.#options;
    const keys = [meta, view, outbox].map((part) => this.#key(scope, part));
    const script = claimScript.runBuffer(client, keys, [epoch, CHUNK]);
    const answer = await bounded(clock, patienceMs, `claim of ${scope}`, script);
    if (!Array.isArray(answer)) throw new RedisStoreError('REFUSED', 'Redis answered what no script of ours returns');
    const [verdict, version = '', incarnation = '', checkpoint = '', intact] = strings(answer.slice(0, 5));
    const [fields, records] = answer.slice(5);
    if (verdict === 'epoch') throw new FencedError(`${scope}: epoch ${epoch} is over, ${version} owns it`);
    return {
      version,
      incarnation,
      checkpoint: checkpoint === '' ? null : (JSON.parse(checkpoint) as Checkpoint),
      intact: intact === '1',
      contents:
        fields === undefined
          ? undefined
          : { entries: decodeEntries(pairs(fields)), outbox: decodeOutbox(pairs(records)) },
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

  async #outbox(scope: string): Promise<readonly OutboxEntry[]> {
    const { client, clock, patienceMs } = this.#options;
    const records = new Map<string, unknown>();
    let cursor = '0';
    do {
      const page = client.hscanBuffer(this.#key(scope, outbox), cursor, 'COUNT', CHUNK);
      const [next, flat] = await bounded(clock, patienceMs, `claim of ${scope}`, page);
      for (const [id, record] of pairs(flat)) records.set(id, record);
      cursor = String(next);
    } while (cursor !== '0');
    return decodeOutbox(records);
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
const outbox = 'outbox';

function commitArguments(commit: Commit, version: string): readonly Argument[] {
  const { epoch, expected, checkpoint, entries, publish, published } = commit;
  // The last one of a field counts.
  const fields = new Map(entries.map(({ key, field, value }) => [JSON.stringify([key, field]), value]));
  const set: string[] = [];
  const removed: string[] = [];
  for (const [name, value] of fields) {
    if (value === undefined) removed.push(name);
    else set.push(name, JSON.stringify(value));
  }
  const records = publish.flatMap(({ id, key, headers, payload }) => [id, encodeFrame({ key, headers }, payload)]);
  const counts = [set.length / 2, removed.length, publish.length, published.length];
  const cursor = JSON.stringify(checkpoint);
  return [
    ...[epoch, version, expected, checkpoint.position, cursor, ...counts],
    ...[...set, ...removed, ...records, ...published],
  ];
}

/** Names and values of a hash, as Redis lists them. */
function pairs(flat: unknown): readonly (readonly [name: string, value: unknown])[] {
  if (!Array.isArray(flat)) throw new RedisStoreError('REFUSED', 'Redis answered what no hash of ours holds');
  return Array.from({ length: flat.length / 2 }, (_, i) => [String(flat[2 * i]), flat[2 * i + 1]]);
}

function decodeEntries(values: Iterable<readonly [name: string, value: unknown]>): readonly StoredEntry[] {
  return Array.from(values, ([name, value]) => {
    const [key, field] = JSON.parse(name) as [string, string];
    return { key, field, value: JSON.parse(String(value)) as unknown };
  });
}

function decodeOutbox(records: Iterable<readonly [id: string, record: unknown]>): readonly OutboxEntry[] {
  return Array.from(records, ([id, record]) =>
    decodeOutboxEntry(id, Buffer.isBuffer(record) ? record : Buffer.alloc(0)),
  )
    .sort((a, b) => a.place - b.place)
    .map(({ entry }) => entry);
}

const escapeGlob = (text: string): string => text.replace(/[\\*?[\]]/g, '\\$&');

/** `4711 ` and the frame; the number is its place in the order. */
function decodeOutboxEntry(id: string, record: Buffer): { readonly place: number; readonly entry: OutboxEntry } {
  const space = record.indexOf(' ');
  const { description, payload } = decodeFrame<Pick<OutboxEntry, 'key' | 'headers'>>(record.subarray(space + 1));
  return { place: Number(record.toString('latin1', 0, space)), entry: { id, ...description, payload } };
}

function fenced({ scope, epoch, expected }: Commit, verdict: string | undefined, held: string): FencedError {
  switch (verdict) {
    case 'epoch':
      return new FencedError(`${scope}: epoch ${epoch} is over, ${held} owns it`);
    case 'position':
      return new FencedError(`${scope}: the checkpoint is ${held}, not ${expected}`);
    default:
      return new FencedError(`${scope}: commits were made or lost since this owner's last one`);
  }
}

/** What a script of ours returns. */
export function strings(answer: unknown): readonly string[] {
  if (!Array.isArray(answer)) throw new RedisStoreError('REFUSED', 'Redis answered what no script of ours returns');
  return answer.map(String);
}
