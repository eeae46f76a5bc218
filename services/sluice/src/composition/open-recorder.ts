import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Configuration } from '@sluice/fleet/configuration';
import { type Clock, errorMessage, type Logger } from '@sluice/platform';
import { UsageError, version } from '@sluice/platform/process';
import { Recorder } from '@sluice/recording';

export interface RecorderPorts {
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly isPaused?: boolean;
}

/** What a recording leaves free on its disk, in bytes. */
const minFreeBytes = 512 * 1024 ** 2;

/** Opens the recorder of the configuration; undefined if there is to be no recording. */
export async function openRecorder(
  { directory: configured, maxBytes, retention: retentionMs }: Configuration['recording'],
  { environment, ...ports }: RecorderPorts,
): Promise<Recorder | undefined> {
  if (configured === 'none') return undefined;
  const directory = configured === undefined ? defaultDirectory(environment) : resolve(configured);
  const options = { directory, version, limits: { maxBytes, retentionMs, minFreeBytes } };
  try {
    return await Recorder.open({ ...ports, ...options });
  } catch (error) {
    throw new UsageError(`${errorMessage(error)}; pass another --recording-dir, or --recording-dir none`);
  }
}

/** Where `sluice observe` records by default. */
export const defaultDirectory = ({ XDG_STATE_HOME: state }: NodeJS.ProcessEnv): string =>
  join(state || join(homedir(), '.local/state'), 'sluice/recording');
