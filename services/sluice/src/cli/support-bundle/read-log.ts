import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { UsageError } from '@sluice/process';
import { errorMessage } from '@sluice/runtime';
import type { BundleFile } from './support-bundle.ts';

/** The end of a log is what matters. */
export const maxLogBytes = 16 * 1024 * 1024;

/** The last bytes of a log file, from the beginning of a line. Throws UsageError if it cannot be read. */
export function readLog(file: string, index: number): BundleFile {
  const path = `logs/${index}-${basename(file)}`;
  try {
    const descriptor = openSync(file, 'r');
    try {
      const { size } = fstatSync(descriptor);
      const buffer = Buffer.alloc(Math.min(size, maxLogBytes));
      const read = readSync(descriptor, buffer, 0, buffer.length, size - buffer.length);
      const text = buffer.toString('utf8', 0, read);
      return { path, text: size > maxLogBytes ? text.slice(text.indexOf('\n') + 1) : text };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw new UsageError(`--log: ${errorMessage(error)}`);
  }
}
