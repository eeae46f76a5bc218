import { type Fields, optionalStringAt, wrongType } from './fields.ts';

/**
 * Reads an API time as RFC 3339 in UTC with whole seconds, as the API server stores it. Returns null if missing.
 * Normalises other forms that Kubernetes accepts (offsets, and fractions, which are truncated).
 */
export function optionalTimeAt(object: Fields, key: string, path: string): string | null {
  const text = optionalStringAt(object, key, path);
  if (text === null || isCanonical(text)) return text;
  if (!rfc3339.test(text)) throw wrongType(path, 'an RFC 3339 time');
  const milliseconds = Date.parse(text);
  if (Number.isNaN(milliseconds)) throw wrongType(path, 'an RFC 3339 time');
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Checks only the length and the separators of `2024-01-01T00:05:00Z`: the API server stores valid times only. */
function isCanonical(text: string): boolean {
  return (
    text.length === 20 &&
    text.charCodeAt(4) === 45 &&
    text.charCodeAt(7) === 45 &&
    text.charCodeAt(10) === 84 &&
    text.charCodeAt(13) === 58 &&
    text.charCodeAt(16) === 58 &&
    text.charCodeAt(19) === 90
  );
}
