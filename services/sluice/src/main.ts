import { isAnswerError } from '@sluice/console/client';
import { isUsageError, version } from '@sluice/process';
import { Command } from 'commander';
import colors from 'picocolors';
import { addCommands } from './cli/commands/all.ts';

const program = new Command('sluice')
  .description('Endpoints and EndpointSlices for Kubernetes, computed by event-sourced services over a message bus.')
  .version(version)
  .showHelpAfterError('See --help.')
  .configureHelp({ showGlobalOptions: true })
  .exitOverride((error) => {
    // Commander has printed what was wrong. As kubectl and most tools do, wrong usage is status 2.
    process.exit(error.exitCode === 0 ? 0 : 2);
  });

async function main(): Promise<void> {
  await addCommands(program, process.argv[2]);
  try {
    await program.parseAsync();
  } catch (error) {
    if (!isUsageError(error) && !isAnswerError(error)) throw error;
    process.stderr.write(`${colors.red('error')} ${error.message}\n`);
    process.exitCode = isUsageError(error) ? 2 : 1;
  }
}

// Not awaited: what is put together can have no top-level await (ADR 0036).
void main();
