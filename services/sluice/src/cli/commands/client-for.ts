import { readFileSync } from 'node:fs';
import { ConsoleClient, type ConsoleClientOptions } from '@sluice/console/client';
import { errorMessage, knownSecrets } from '@sluice/platform';
import { defaultBindAddress, formatBindAddress, isLoopback, UsageError } from '@sluice/platform/process';

export interface ConsoleOptions {
  readonly console: string;
  readonly consoleTokenFile?: string;
}

export const defaultUrl = `http://${formatBindAddress(defaultBindAddress)}`;

/** A client of the console that the flags select. The token may come from the environment. */
export function clientFor(
  { console: url, consoleTokenFile }: ConsoleOptions,
  options: Pick<ConsoleClientOptions, 'wait'> = {},
): ConsoleClient {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.username !== '') {
    throw new UsageError(`--console is ${JSON.stringify(url)}; expected a URL such as ${defaultUrl}`);
  }
  const token = tokenOf(consoleTokenFile);
  if (token !== undefined && parsed.protocol === 'http:' && !isLoopback(parsed.hostname)) {
    throw new UsageError(`--console: the token would go to ${parsed.host} unencrypted; give an https:// address`);
  }
  knownSecrets.remember(owner, [token]);
  return new ConsoleClient({ ...options, url, token });
}

const owner = {};

function tokenOf(given: string | undefined): string | undefined {
  const file = given ?? process.env.SLUICE_CONSOLE_TOKEN_FILE;
  if (given === undefined && process.env.SLUICE_CONSOLE_TOKEN) return process.env.SLUICE_CONSOLE_TOKEN;
  if (!file) return undefined;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new UsageError(`--console-token-file: ${errorMessage(error)}`);
  }
}
