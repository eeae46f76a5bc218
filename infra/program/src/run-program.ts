import { UsageError } from '@sluice/process';

/** A line about the progress, beside what is printed in the end. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/**
 * Runs a program: its exit status is what `main` returns or promises (0 unless a number), 2 for wrong usage, 130 when interrupted, and
 * `failed` when something else is thrown. The servers that it started end with it, however it ends.
 */
export async function runProgram(main: () => unknown, failed = 1): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  try {
    const status = await main();
    if (typeof status === 'number') process.exitCode = status;
  } catch (error) {
    const wrongUsage = error instanceof UsageError;
    say(wrongUsage ? `error: ${error.message}\nSee --help.` : told(error));
    process.exitCode = wrongUsage ? 2 : failed;
  }
}

/** An error that says what to do stands for itself; of any other the place counts. */
function told(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? `error: ${error.message}` : (error.stack ?? error.message);
}
