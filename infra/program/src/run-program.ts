import { UsageError } from '@sluice/platform/process';

/** Prints a line of progress to standard error; results go to standard output. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/**
 * Runs a program. Its exit status is the number that `main` returns (default 0), 2 for a usage error, 130 after SIGINT or
 * SIGTERM, and `failed` for any other error. The servers that the program started stop with it.
 */
export async function runProgram(main: () => unknown, failed = 1): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  try {
    const status = await main();
    if (typeof status === 'number') process.exitCode = status;
  } catch (error) {
    const isUsageError = error instanceof UsageError;
    say(isUsageError ? `error: ${error.message}\nSee --help.` : describe(error));
    process.exitCode = isUsageError ? 2 : failed;
  }
}

/** An error with a code is one for the user and needs no stack trace. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? `error: ${error.message}` : (error.stack ?? error.message);
}
