import { isServiceKey, type Message, parseServiceKey, type ServiceKey } from '@sluice/messages';
import { type ExportedRecords, exportedRecords, type Selection } from './exported-records.ts';
import { objectsOf, textOf } from './message-summary.ts';
import type { KeyedRecord } from './recording-file.ts';
import type { RecordingReader } from './recording-reader.ts';
import { messageOf, type RecordedTopic } from './records.ts';

/** A record for programs that do not know the format of recordings. */
export interface DescribedRecord {
  /** Formatted key of the Service, or the identity of a cluster that was removed. */
  readonly key: string;
  /** In milliseconds since the Unix epoch. */
  readonly receivedAt: number;
  readonly cluster: { readonly uid: string; readonly name: string };
  /** Undefined for the removal of a cluster. */
  readonly service: ServiceKey | undefined;
  readonly topic: RecordedTopic;
  readonly kind: Message['kind'];
  /** The state of the Service follows from this record and later ones. */
  readonly startsSnapshot: boolean;
  /** KIND/NAME */
  readonly objects: readonly string[];
  /** For people. */
  readonly text: string;
  readonly traceparent: string | undefined;
  readonly message: Message;
}

/** The selected records that can be decoded, beginning with those from which the Services at the start follow. */
export function* describedRecords(reader: RecordingReader, selection: Selection): Generator<DescribedRecord> {
  const { clusterNames, periods } = exportedRecords(reader, selection);
  for (const { before, records } of periods) {
    for (const part of [before, records]) {
      for (const record of part) {
        const described = describe(record, clusterNames);
        if (described !== undefined) yield described;
      }
    }
  }
}

function describe(
  { key, topic, receivedAt, startsSnapshot, traceparent, payload }: KeyedRecord,
  clusterNames: ExportedRecords['clusterNames'],
): DescribedRecord | undefined {
  const message = messageOf({ payload });
  if (message === undefined) return undefined;
  const service = isServiceKey(key) ? parseServiceKey(key) : undefined;
  const uid = service?.cluster ?? key;
  return {
    ...{
      key,
      receivedAt,
      cluster: { uid, name: clusterNames.get(uid) ?? uid },
      service,
      topic,
      startsSnapshot,
      message,
    },
    ...{ kind: message.kind, objects: objectsOf(message), text: textOf(message), traceparent },
  };
}
