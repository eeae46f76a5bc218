import { isServiceKey } from '@sluice/messages';
import type { RecordedPeriod } from './queries.ts';
import type { KeyedRecord } from './recording-file.ts';
import type { RecordingReader } from './recording-reader.ts';
import { Redaction } from './redaction/redaction.ts';

/** Which part of a recording is exported. */
export interface Selection {
  readonly period: RecordedPeriod;
  /** Whether a Service is exported, by formatted key. */
  readonly isWanted: (key: string) => boolean;
  /** Names, addresses, labels and texts are replaced by pseudonyms. */
  readonly isRedacted: boolean;
}

export interface ExportedRecords {
  /** By identity. */
  readonly clusterNames: ReadonlyMap<string, string>;
  /** Whether something is redacted, now or when the recording itself was exported. */
  readonly isRedacted: boolean;
  /** In the order of time. Each is read once, before the next. */
  readonly periods: Iterable<ExportedPeriod>;
}

/** A period without a gap. */
export interface ExportedPeriod extends RecordedPeriod {
  readonly isLast: boolean;
  /** Earlier records, from which the Services at its beginning follow. */
  readonly before: readonly KeyedRecord[];
  readonly records: Iterable<KeyedRecord>;
}

/** Reads the records that are about some Services in a period. Gaps stay gaps. */
export function exportedRecords(reader: RecordingReader, { isRedacted, ...selection }: Selection): ExportedRecords {
  const redaction = isRedacted ? new Redaction() : undefined;
  for (const key of reader.servicesAt(selection.period.to)) if (selection.isWanted(key)) redaction?.service(key);
  const names = [...reader.clusterNames()];
  return {
    clusterNames: new Map(redaction === undefined ? names : names.map((one) => redaction.cluster(one))),
    isRedacted: isRedacted || reader.coverage().isRedacted,
    periods: periodsOf(reader, selection, (record) => (redaction === undefined ? record : redaction.record(record))),
  };
}

type Redact = (record: KeyedRecord) => KeyedRecord | undefined;

function* periodsOf(
  reader: RecordingReader,
  { period, isWanted }: Omit<Selection, 'isRedacted'>,
  redact: Redact,
): Generator<ExportedPeriod> {
  const periods = reader.coverage().periods.filter(({ from, to }) => from <= period.to && to >= period.from);
  const isStartRecorded = periods[0] !== undefined && periods[0].from <= period.from;
  const before = isStartRecorded ? recordsBefore(reader, period.from, isWanted) : [];
  const following = reader.recordsAfter(period.from);
  let next = following.next();
  function* recordsUntil(to: number): Generator<KeyedRecord> {
    for (; !next.done && next.value.receivedAt <= to; next = following.next()) {
      // Removals of clusters end the history of their Services.
      if (isServiceKey(next.value.key) && !isWanted(next.value.key)) continue;
      const record = redact(next.value);
      if (record !== undefined) yield record;
    }
  }
  for (const [i, { from, to }] of periods.entries()) {
    const until = Math.min(to, period.to);
    yield {
      ...{ from: Math.max(from, period.from), to: until, isLast: i === periods.length - 1 },
      before: i === 0 ? before.flatMap((record) => redact(record) ?? []) : [],
      records: recordsUntil(until),
    };
  }
}

/** Records from which the Services at a time follow, in the order of their arrival. */
function recordsBefore(reader: RecordingReader, time: number, isWanted: Selection['isWanted']): readonly KeyedRecord[] {
  const range = { since: time, until: time, records: 1 };
  return reader
    .servicesAt(time)
    .filter(isWanted)
    .flatMap((key) => reader.records(key, range).records.map((record) => ({ key, ...record })))
    .sort((a, b) => a.receivedAt - b.receivedAt);
}
