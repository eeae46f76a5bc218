import { firstLine, formatTable, printable, timestamp } from '@sluice/process';
import type { DeadLetter } from '@sluice/store';

const headings = ['NAME', 'TIME', 'KEY', 'REASON'] as const;

/** As kubectl lists things. */
export function listLetters(letters: readonly DeadLetter[]): string {
  if (letters.length === 0) return 'No dead letters.\n';
  const rows = letters.map(({ name, deadLetteredAt, record, reason }) => [
    name,
    timestamp(deadLetteredAt),
    record.key,
    firstLine(reason),
  ]);
  return formatTable(headings, rows);
}

export function describeLetter({ name, topic, partition, offset, deadLetteredAt, reason, record }: DeadLetter): string {
  const headers = Object.entries(record.headers).map(([header, value]) => `${header}=${value}`);
  const lines = [
    ['Name', name],
    ['From', `offset ${offset} of ${topic}, partition ${partition}`],
    ['Time', timestamp(deadLetteredAt)],
    ['Reason', reason],
    ['Record', record.id],
    ['Key', record.key],
    ...(headers.length > 0 ? [['Headers', headers.join(', ')]] : []),
    ['Payload', `${record.payload.length} bytes`],
  ];
  return `${lines.map(([label, value]) => `${`${label}:`.padEnd(12)}${value}`).join('\n')}\n\n${text(record.payload)}\n`;
}

/** One line; the payload as text where it is text, else in base64. */
export function toJsonLetter({ record, deadLetteredAt, ...letter }: DeadLetter): string {
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
  if (decoded === undefined) return Buffer.from(payload).toString('hex');
  return printable(decoded);
}
