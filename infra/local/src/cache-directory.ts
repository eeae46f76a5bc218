import { homedir } from 'node:os';
import { join } from 'node:path';

/** The directory that Sluice keeps between runs: `$XDG_CACHE_HOME/sluice` or `~/.cache/sluice`. */
export function cacheDirectory(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice');
}
