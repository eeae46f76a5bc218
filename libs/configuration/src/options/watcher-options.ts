import { parseSize } from '@sluice/process';
import { type Command, InvalidArgumentError } from 'commander';

export interface WatcherOptions {
  /** Maximum memory for the objects of one cluster; see ListBudget. Default: half of the heap. */
  readonly maxCacheBytes: number | undefined;
}

/** Flags of the watcher. */
export function addWatcherOptions(command: Command): Command {
  return command
    .optionsGroup('Watches:')
    .option(
      '--max-cache-bytes <size>',
      'maximum memory for the objects of one cluster, e.g. 512Mi; a list or watch beyond it fails and is retried\n(default: half of the heap)',
      sizeFlag,
    );
}

function sizeFlag(text: string): number {
  const bytes = parseSize(text);
  if (bytes === undefined || bytes === 0)
    throw new InvalidArgumentError(`"${text}" is not a size; expected for example 512Mi`);
  return bytes;
}
