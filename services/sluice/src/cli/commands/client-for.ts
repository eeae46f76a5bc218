import { readFileSync } from 'node:fs';
import { ConsoleClient, type ConsoleClientOptions } from '@sluice/console/client';
import { parseAt, parseSince } from '@sluice/console/terminal';
import { errorMessage, knownSecrets } from '@sluice/platform';
import {
  defaultBindAddress,
  formatBindAddress,
  isLoopback,
  localTime,
  print,
  showWait,
  systemClock,
  UsageError,
} from '@sluice/platform/process';
import { type Command, Option } from 'commander';

export interface ConsoleOptions {
  readonly console: string;
  readonly consoleTokenFile?: string;
  readonly context?: string;
}

/** Adds the flags of a command that asks a console. */
export function addConsoleAddress(command: Command): Command {
  return command
    .addOption(new Option('--console <url>', 'URL of the console').default(defaultUrl).env('SLUICE_CONSOLE'))
    .option(
      '--console-token-file <file>',
      'file with the bearer token of the console (default: $SLUICE_CONSOLE_TOKEN or $SLUICE_CONSOLE_TOKEN_FILE)',
    )
    .option('--context <name>', 'ask the console in the cluster of this context of kubectl, by port-forward');
}

/** Says that a console has not answered yet. */
export const waitForConsole = <T>(answer: Promise<T>): Promise<T> =>
  showWait('waiting for the console', answer, { clock: systemClock, output: process.stderr });

/** The time that `--since` names, a duration ago or a time, in milliseconds since the Unix epoch. */
export function sinceOf(since: string | undefined, now = systemClock.now()): number | undefined {
  if (since === undefined) return undefined;
  const from = parseSince(since, now) ?? parseAt(since, now);
  if (from === undefined)
    throw new UsageError(
      `--since is ${JSON.stringify(since)}; expected a duration such as 1h or 30m, or ${timeFormats}`,
    );
  return Math.max(0, Math.floor(from));
}

/** The time that `--until` names, in milliseconds since the Unix epoch. */
export function untilOf(until: string | undefined, now = systemClock.now()): number | undefined {
  if (until === undefined) return undefined;
  const to = parseAt(until, now);
  if (to === undefined) throw new UsageError(`--until is ${JSON.stringify(until)}; expected ${timeFormats}`);
  return Math.floor(to);
}

const timeFormats = '03:12, 03:12:30, "5m ago", 2026-03-01T03:12 or 2026-03-01T03:12:00Z';

export const defaultUrl = `http://${formatBindAddress(defaultBindAddress)}`;

/** A client of the console that the flags select. The token may come from the environment. */
export function clientFor(
  { console: url, consoleTokenFile, context }: ConsoleOptions,
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
  if (context !== undefined && url !== defaultUrl) {
    throw new UsageError('--console and --context both name a console; remove one of them');
  }
  knownSecrets.remember(owner, [token]);
  // What kubectl would ask, for `kubectl sluice` and with a context.
  const isInCluster = context !== undefined || (process.env.KUBECTL_SLUICE !== undefined && url === defaultUrl);
  const find = async () => (await import('./forward-console.ts')).forwardConsole(context);
  return new ConsoleClient({
    ...{ ...options, token, warn },
    // Nothing listens on this port: a context leads to no other console than that of its cluster.
    url: context === undefined ? url : 'http://127.0.0.1:0',
    ...(isInCluster && { find }),
  });
}

const owner = {};

/** Once, however many answers a command needs. As kubectl prints warnings of an API server. */
function warn(text: string): void {
  if (!warned.has(text)) print(process.stderr, `Warning: ${text}\n`);
  warned.add(text);
}

const warned = new Set<string>();

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

/** The time that `--at` names, in milliseconds since the Unix epoch; undefined: now. */
export function atOf({ at }: { readonly at?: string }): number | undefined {
  if (at === undefined) return undefined;
  const now = systemClock.now();
  const time = parseAt(at, now);
  if (time === undefined) {
    throw new UsageError(`--at is ${JSON.stringify(at)}; expected ${timeFormats}`);
  }
  if (time > now) {
    throw new UsageError(
      `--at ${at} is ${localTime(time, now)}, which is in the future; now it is ${localTime(now, now)}`,
    );
  }
  return Math.floor(time);
}
