import { inspect } from 'node:util';
import { isQueryError } from '@sluice/console/client';
import { redact } from '@sluice/platform';
import {
  columnsOf,
  exitOnClosedPipe,
  exitStatus,
  isUsageError,
  print,
  systemClock,
  version,
  withLocalTimes,
  wrapLines,
} from '@sluice/platform/process';
import { Command } from 'commander';
import colors from 'picocolors';
import { addCommands, commandNames } from './cli/commands/all.ts';
import { helpStyle } from './cli/help.ts';

exitOnClosedPipe();

const called = process.argv[2];
const usage = called !== undefined && commandNames.includes(called) ? `sluice ${called}` : 'sluice';

const onTerminal = (text: string): string => wrapLines(text, columnsOf(process.stderr));

const program = new Command('sluice')
  .description(
    'Endpoints and EndpointSlice controllers for Kubernetes, built as event-sourced services over a message bus.',
  )
  .version(version)
  .showHelpAfterError(`See '${usage} --help'.`)
  .configureHelp(helpStyle(process.stdout.columns))
  .configureOutput({
    writeOut: (text) => print(process.stdout, text),
    writeErr: (text) => print(process.stderr, text),
    outputError: (text, write) => write(onTerminal(text)),
  })
  .exitOverride((error) => {
    // Commander has already printed the error. Usage errors exit with status 2.
    process.exit(error.exitCode === 0 ? exitStatus.success : exitStatus.usage);
  });

async function main(): Promise<void> {
  await addCommands(program, called);
  try {
    await program.parseAsync();
  } catch (error) {
    if (!isUsageError(error) && !isQueryError(error)) {
      // Node would print the error unescaped, which may quote an API server.
      print(process.stderr, `${redact(inspect(error))}\n`, () => process.exit(exitStatus.failure));
      return;
    }
    // Messages of a console have times in UTC, the output of a command has local times.
    const message = isQueryError(error) ? withLocalTimes(error.message, systemClock.now()) : error.message;
    print(process.stderr, `${onTerminal(`${colors.red('error:')} ${redact(message)}`)}\n`);
    process.exitCode = isUsageError(error) ? exitStatus.usage : exitStatus.failure;
  }
}

// Not awaited, because the bundle is CommonJS, which has no top-level await (ADR 0001).
void main();
