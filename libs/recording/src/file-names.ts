import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** One file of a recording. */
export interface FileOfRecording {
  readonly path: string;
  /** With what SQLite has beside it. */
  readonly bytes: number;
  /** In milliseconds since the Unix epoch. */
  readonly modifiedAt: number;
}

const pattern = /^sluice-\d{8}T\d{9}Z\.sqlite$/;

/** The name sorts by time. */
export const fileName = (startedAt: number): string =>
  `sluice-${new Date(startedAt).toISOString().replaceAll(/[-:.]/g, '')}.sqlite`;

export const isFileName = (name: string): boolean => pattern.test(name);

/** The files of a directory, oldest first. */
export function filesIn(directory: string): readonly FileOfRecording[] {
  const names = readdirSync(directory).filter(isFileName).sort();
  return names.map((name) => {
    const path = join(directory, name);
    const files = companions(path).flatMap((one) => statSync(one, { throwIfNoEntry: false }) ?? []);
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    return { path, bytes, modifiedAt: Math.max(...files.map(({ mtimeMs }) => mtimeMs)) };
  });
}

/** A file, and what SQLite has beside it until it is closed. */
export const companions = (path: string): readonly string[] => [path, `${path}-wal`, `${path}-shm`];
