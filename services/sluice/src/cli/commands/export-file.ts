import { closeSync, existsSync, openSync, writeSync } from 'node:fs';
import { print, printable } from '@sluice/platform/process';

export interface ExportFile {
  readonly write: (text: string) => void;
  readonly close: () => void;
}

/**
 * A new file that only its owner can read, or standard output for `-`.
 *
 * @throws Error if the file cannot be created
 */
export function openExportFile(path: string): ExportFile {
  if (path === '-') return { write: (text) => print(process.stdout, text), close: () => {} };
  const file = openSync(path, 'wx', 0o600);
  // Lines of JSON keep their values, and are safe to show in a terminal.
  return { write: (text) => void writeSync(file, printable(text)), close: () => closeSync(file) };
}

/** @throws Error with a message for people if the file exists */
export function checkNew(path: string): void {
  if (existsSync(path)) throw new Error(`${path} already exists; choose another file`);
}
