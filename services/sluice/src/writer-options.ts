import type { Command } from 'commander';
import { inRange } from './settings-options.ts';

/** How clusters are written to. */
export interface WriterOptions {
  readonly maxWritesInFlight: number;
}

export const writerDefaults: WriterOptions = { maxWritesInFlight: 64 };

export function addWriterOptions(command: Command): Command {
  return command.option(
    '--max-writes-in-flight <n>',
    'writes of one cluster under way at once, at most; fewer while its API server is slow or refuses, 1–1000',
    inRange('--max-writes-in-flight', 1, 1000),
    writerDefaults.maxWritesInFlight,
  );
}
