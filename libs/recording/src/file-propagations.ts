import { getOrCreate } from '@sluice/platform';
import type { Appearance, Propagation } from './propagations.ts';
import type { PropagationQuery, ServiceQuery } from './queries.ts';
import type { RecordingDatabase } from './recording-database.ts';

interface PropagationRow extends Omit<Propagation, 'from' | 'to' | 'isStartKnown'> {
  readonly was: Appearance;
  readonly became: Appearance;
  readonly known: number;
}

/** As it is indexed; null: the propagation continues. */
const duration = 'ended_at - started_at';
/** Few propagations take longer, in milliseconds. */
const longMs = 60_000;
const many = 5_000;

const isOneService = (keys: string): boolean => !keys.includes('%');

/** A condition with the pattern as its only parameter. */
function ofKeys(keys: string): string {
  if (keys === '%/%/%') return '? IS NOT NULL';
  if (isOneService(keys)) return 'service = (SELECT id FROM services WHERE key = ?)';
  return '+service IN (SELECT id FROM services WHERE key LIKE ?)';
}

/** How often a Pod became ready or not ready. */
export interface ReadinessChanges {
  /** Formatted key of the Service. */
  readonly key: string;
  readonly pod: string;
  readonly changes: number;
  /** In milliseconds since the Unix epoch. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/** How often another field manager than before wrote one object of a Service: the one that changed most often. */
export interface ManagerChanges {
  /** Formatted key of the Service. */
  readonly key: string;
  readonly changes: number;
  /** In milliseconds since the Unix epoch. */
  readonly firstAt: number;
  /** Two of the managers. */
  readonly before: string;
  readonly after: string;
}

/**
 * Propagations that overlap with a period, from a duration on: the first ones of the query and perhaps more. `at`: until when
 * those count that continue.
 */
export function findPropagations(
  file: RecordingDatabase,
  { from, to, keys, atLeastMs, isOpen, isStartKnown, sort, limit }: PropagationQuery,
  at: number,
): readonly Propagation[] {
  const common = `${ofKeys(keys)} AND ${isStartKnown ? 'start_known' : 'true'}`;
  const find = (where: string, order: string, ...values: readonly number[]) =>
    file.ofServices(
      `SELECT key, pods.text AS pod, places.text AS place, befores.text AS was, afters.text AS became,
         events.text AS event, started_at AS "startedAt", start_known AS known, ended_at AS "endedAt", ends.text AS "end"
       FROM (SELECT * FROM propagations WHERE ${where} AND ${common} ORDER BY ${order} LIMIT ?)
         JOIN services ON services.id = service
         JOIN texts AS pods ON pods.id = pod
         JOIN texts AS places ON places.id = place
         JOIN texts AS befores ON befores.id = was
         JOIN texts AS afters ON afters.id = became
         JOIN texts AS events ON events.id = event
         LEFT JOIN texts AS ends ON ends.id = "end"`,
      ...[...values, keys, limit],
    );
  const rows: Record<string, unknown>[] = [];
  const continuesSince = Math.min(to, at - atLeastMs);
  if (at >= from) rows.push(...find(`${duration} IS NULL AND started_at <= ?`, 'started_at', continuesSince));
  if (!isOpen) {
    const order = `${sort === 'longest' ? duration : 'ended_at'} DESC`;
    const ended = (where: string, ...values: readonly number[]) =>
      rows.push(...find(`${where} AND ended_at >= ? AND ${duration} >= ?`, order, ...values, from, atLeastMs));
    if (isOneService(keys)) ended('started_at <= ?', to);
    // The first ones in this order are soon found. A plus keeps SQLite from another index.
    else if (sort === 'longest' && hasMany(file, from, to)) ended('+started_at <= ?', to);
    else {
      ended(`+started_at <= ? AND ${duration} >= ${longMs}`, to);
      ended(`started_at BETWEEN ? AND ? AND +(${duration}) < ${longMs}`, from - longMs, to);
    }
  }
  return (rows as unknown as readonly PropagationRow[]).map(
    ({ was, became, known, ...row }): Propagation => ({ ...row, from: was, to: became, isStartKnown: known === 1 }),
  );
}

/** Whether many propagations begin in a period. */
function hasMany(file: RecordingDatabase, from: number, to: number): boolean {
  const sql = `SELECT 1 FROM propagations WHERE started_at BETWEEN ? AND ? LIMIT 1 OFFSET ${many}`;
  return file.all(sql, from, to).length > 0;
}

/** How often each Pod became ready or not ready in a period. */
export function countReadinessChanges(
  file: RecordingDatabase,
  { from, to, keys }: ServiceQuery,
): readonly ReadinessChanges[] {
  const rows = file.ofServices(
    `SELECT key, pods.text AS pod, changes, "firstAt", "lastAt"
     FROM (
       SELECT service, pod, count(*) AS changes, min(started_at) AS "firstAt", max(started_at) AS "lastAt"
       FROM propagations
       WHERE started_at BETWEEN ? AND ? AND ${ofKeys(keys)} AND start_known AND place = ${file.textId('slices')}
         AND was IN (${readinessIds(file)}) AND became IN (${readinessIds(file)})
       GROUP BY service, pod
     ) JOIN services ON services.id = service JOIN texts AS pods ON pods.id = pod`,
    ...[from, to, keys],
  );
  return rows as unknown as readonly ReadinessChanges[];
}

/** How often another field manager than before wrote the objects of each Service in a period. */
export function countManagerChanges(
  file: RecordingDatabase,
  { from, to, keys }: ServiceQuery,
): readonly ManagerChanges[] {
  const rows = file.ofServices(
    `SELECT key, max(changes) AS changes, "firstAt", befores.text AS "before", afters.text AS "after"
     FROM (
       SELECT service, count(*) AS changes, min(received_at) AS "firstAt", was, became
       FROM manager_changes WHERE received_at BETWEEN ? AND ? GROUP BY service, object
     )
       JOIN services ON services.id = service
       JOIN texts AS befores ON befores.id = was
       JOIN texts AS afters ON afters.id = became
     WHERE key LIKE ? GROUP BY service`,
    ...[from, to, keys],
  );
  return rows as unknown as readonly ManagerChanges[];
}

/** How long it took until slices showed that ready Pods were no longer, in milliseconds by Service. */
export function findRemovals(
  file: RecordingDatabase,
  { from, to, keys }: ServiceQuery,
): ReadonlyMap<string, readonly number[]> {
  const removals = new Map<string, number[]>();
  const rows = file.ofServices(
    `SELECT key, ended_at - started_at AS ms FROM propagations JOIN services ON services.id = service
     WHERE started_at BETWEEN ? AND ? AND ${ofKeys(keys)} AND start_known AND place = ${file.textId('slices')}
       AND was = ${file.textId('ready')} AND became IN (${file.textId('terminating')}, ${file.textId('absent')})
       AND "end" = ${file.textId('written')}`,
    ...[from, to, keys],
  );
  for (const { key, ms } of rows) getOrCreate(removals, String(key), () => []).push(Number(ms));
  return removals;
}

const readinessIds = (file: RecordingDatabase): string => [file.textId('ready'), file.textId('not ready')].join();
