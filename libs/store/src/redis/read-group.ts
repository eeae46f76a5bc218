import type { GroupState, Lease } from '../index.ts';
import { stalledOf } from './redis-error.ts';
import { type Client, type GroupKeys, listOf, pairs } from './script.ts';

/** As in alive-until.lua: the longest lease that a configuration accepts, in milliseconds. */
const longestTtlMs = 600_000;

/**
 * Reads a group at one instant, without expired members and their leases. Plain commands: an observer may run no script, because
 * Redis cannot keep a script from running for ever.
 */
export async function readGroup(client: Client, keys: GroupKeys): Promise<GroupState> {
  const [expiriesKey, statesKey = '', holdersKey = '', startsKey = '', , , preparedKey = ''] = keys;
  const transaction = client.multi().time();
  for (const key of [expiriesKey, statesKey, holdersKey, startsKey, preparedKey]) transaction.hgetall(key);
  const replies = (await transaction.exec()) ?? [];
  const [time, ...hashes] = replies.map(([error, reply]) => {
    if (error !== null) throw error;
    return reply;
  });
  const now = nowOf(time);
  const hash = (index: number) => hashOf(hashes[index]);
  const [states, starts, prepared] = [hash(1), hash(3), hash(4)];

  const members: string[] = [];
  const active: [string, string][] = [];
  const alive = new Set<string>();
  for (const [member, expiresAt] of hash(0)) {
    const [, state] = /^(\S*) \S*$/.exec(states.get(member) ?? '') ?? [];
    if (state === undefined || !isAlive(Number(expiresAt), now)) continue;
    alive.add(member);
    if (state === 'leaving') continue;
    members.push(member);
    active.push([member, state]);
  }
  const leases: Lease[] = [];
  for (const [scope, entry] of hash(2)) {
    const { fencingToken, rest: holder } = tokenAnd(entry);
    if (!alive.has(holder)) continue;
    const lease = { scope, holder, fencingToken, started: starts.get(scope) === String(fencingToken) };
    const ready = tokenAnd(prepared.get(scope) ?? '');
    const isReady = ready.fencingToken === fencingToken && ready.rest !== '';
    leases.push(isReady ? { ...lease, preparedBy: ready.rest } : lease);
  }
  return { members, ...stalledOf(active), leases };
}

const isAlive = (expiresAt: number, now: number): boolean => expiresAt > now && expiresAt <= now + longestTtlMs;

/** Of `<fencing token> <rest>`. */
function tokenAnd(entry: string): { readonly fencingToken: number; readonly rest: string } {
  const [, token, rest = ''] = /^(\d+) (.*)$/.exec(entry) ?? [];
  return { fencingToken: Number(token), rest };
}

/** The server's time in milliseconds, of seconds and microseconds. */
function nowOf(time: unknown): number {
  const [seconds, microseconds] = listOf(time);
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
}

/** ioredis gives a hash within a transaction as an object, or as a flat list. */
const hashOf = (reply: unknown): ReadonlyMap<string, string> =>
  new Map(Array.isArray(reply) ? pairs(reply) : Object.entries(reply as Record<string, string>));
