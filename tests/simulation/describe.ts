import type { Topic } from '@sluice/bus';
import type { LogFields } from '@sluice/platform';

export const describeRecord =
  (topic: Topic) =>
  ({ id, headers }: { readonly id: string; readonly headers: Readonly<Record<string, string>> }): string =>
    `${topic === 'requests' ? 'request ' : ''}${id.slice(-60)}${headers['Sluice-Chunk'] === undefined ? '' : ' (chunk)'}`;

export const formatFields = (fields: LogFields): string =>
  Object.entries(fields)
    .map(([key, value]) => `${key}=${formatValue(value)}`)
    .join(' ');

function formatValue(value: unknown): string {
  if (value instanceof Error) return value.message;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
