import { closeSync, existsSync, openSync, writeSync } from 'node:fs';
import { createLogger, print, printable, systemClock, version } from '@sluice/platform/process';
import {
  type Exported,
  encryptRecording,
  exportLines,
  exportParquet,
  exportRecording,
  type RecordingReader,
  type Selection,
} from '@sluice/recording';
import { withTemporaryDirectory } from './temporary-directory.ts';

export const exportFormats = ['recording', 'jsonl', 'otlp', 'parquet'] as const;
export type ExportFormat = (typeof exportFormats)[number];

interface Destination {
  /** A directory for a recording that is not encrypted, else a file; `-` is standard output for lines. */
  readonly target: string;
  /** Public keys of age, to which a recording is encrypted. */
  readonly encryptTo: readonly string[] | undefined;
}

/**
 * Writes the selected records to a new directory or file that only its owner can read.
 *
 * @throws Error with a message for people if the target exists or cannot be written
 */
export async function exportAs(
  format: ExportFormat,
  reader: RecordingReader,
  selection: Selection,
  { target, encryptTo }: Destination,
): Promise<Exported> {
  const toDirectory = (directory: string) =>
    exportRecording(reader, { ...selection, directory, version, logger: createLogger('text', 'info') });
  if (format === 'recording' && encryptTo === undefined) return toDirectory(target);
  if (target !== '-' && existsSync(target)) throw new Error(`${target} already exists; choose another file`);
  switch (format) {
    case 'recording':
      return withTemporaryDirectory('sluice-export-', async (directory) => {
        const exported = toDirectory(directory);
        await encryptRecording(directory, target, { recipients: encryptTo ?? [], now: systemClock.now() });
        return exported;
      });
    case 'parquet':
      return exportParquet(reader, { ...selection, path: target, version });
    default:
      return toLines(target, (write) => exportLines(reader, { ...selection, format, version, write }));
  }
}

function toLines(target: string, use: (write: (text: string) => void) => Exported): Exported {
  if (target === '-') return use((text) => print(process.stdout, text));
  const file = openSync(target, 'wx', 0o600);
  try {
    // Lines of JSON keep their values, and are safe to show in a terminal.
    return use((text) => writeSync(file, printable(text)));
  } finally {
    closeSync(file);
  }
}
