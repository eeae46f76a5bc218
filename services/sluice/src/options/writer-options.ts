import type { Command } from 'commander';
import { inRange } from './settings-options.ts';

/** How clusters are written to. */
export interface WriterOptions {
  readonly maxWritesInFlight: number;
  /** Writes though another controller seems to write the same. */
  readonly takeOver: boolean;
}

export const writerDefaults: WriterOptions = { maxWritesInFlight: 64, takeOver: false };

export function addWriterOptions(command: Command): Command {
  return command
    .option('--take-over', 'write, though kube-controller-manager seems to write the same objects')
    .option(
      '--max-writes-in-flight <n>',
      'writes of one cluster under way at once, at most; fewer while its API server is slow or refuses, 1–1000',
      inRange('--max-writes-in-flight', 1, 1000),
      writerDefaults.maxWritesInFlight,
    );
}
