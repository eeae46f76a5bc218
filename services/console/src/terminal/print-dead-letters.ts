import {
  type ClusterNames,
  firstLine,
  formatFields,
  formatTable,
  localTime,
  printable,
  timestamp,
  timeToSecond,
  withNames,
} from '@sluice/platform/process';
import type { DeadLetter } from '@sluice/store';

interface Format {
  /** Columns of the terminal. */
  readonly width: number;
  /** The time to which times are relative. */
  readonly now: number;
  /** Names of clusters by identity. */
  readonly names: ClusterNames;
}

export function listDeadLetters(letters: readonly DeadLetter[], { width, now, names }: Format): string {
  if (letters.length === 0) return 'No dead letters.\n';
  const rows = letters.map(({ name, deadLetteredAt, record, reason }) => [
    name,
    timeToSecond(deadLetteredAt, now),
    withNames(record.key, names),
    firstLine(reason),
  ]);
  return formatTable(['NAME', 'TIME', 'KEY', 'REASON'], rows, width);
}

export function describeDeadLetter(
  { name, topic, partition, offset, deadLetteredAt, reason, record }: DeadLetter,
  { width, now, names }: Format,
): string {
  const headers = Object.entries(record.headers).map(([header, value]) => `${header}=${value}`);
  const fields = formatFields(
    [
      ['Name', name],
      ['From', `offset ${offset} of ${topic}, partition ${partition}`],
      ['Time', localTime(deadLetteredAt, now)],
      ['Reason', reason],
      ['Record', record.id],
      ['Key', withNames(record.key, names)],
      ...(headers.length > 0 ? [['Headers', headers.join(', ')] as const] : []),
      ['Payload', `${record.payload.length} bytes`],
    ],
    width,
  );
  return `${fields}\n${text(record.payload)}\n`;
}

/** One line of JSON, with the payload as text, or in base64 if it is not UTF-8. */
export function deadLetterJson({ record, deadLetteredAt, ...letter }: DeadLetter): string {
  const payload = utf8(record.payload);
  const body = payload === undefined ? { payloadBase64: Buffer.from(record.payload).toString('base64') } : { payload };
  const { id, key, headers } = record;
  return `${JSON.stringify({ ...letter, at: timestamp(deadLetteredAt), id, key, headers, ...body })}\n`;
}

function utf8(payload: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(payload);
  } catch {
    return undefined;
  }
}

function text(payload: Uint8Array): string {
  const decoded = utf8(payload);
  return decoded === undefined ? Buffer.from(payload).toString('hex') : printable(decoded);
}
