import { createHash } from 'node:crypto';

/** Enough for all ids whose parts are names that Kubernetes accepts. */
const maxLength = 512;

/** Printable ASCII without a space, which every bus carries unchanged in a header. */
const printable = /^[\x21-\x7e]*$/;

/**
 * The id of a record: its parts, or a hash of them if they are too long or a header cannot carry them. Parts come from API servers
 * and from other processes, and an id is part of every record's header.
 */
export function recordId(...parts: readonly (string | number)[]): string {
  const text = parts.join('/');
  if (text.length <= maxLength && printable.test(text)) return text;
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
