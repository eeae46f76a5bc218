import { Command } from 'commander';
import colors from 'picocolors';
import { addClustersCommand } from './commands/clusters.ts';
import { addConfigCommand } from './commands/config.ts';
import { addConsoleCommand } from './commands/console.ts';
import { addDeadLettersCommand } from './commands/dead-letters.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addInspectCommands } from './commands/inspect.ts';
import { addParkedCommand } from './commands/parked.ts';
import { addReplayCommand } from './commands/replay.ts';
import { addRoleCommands } from './commands/role.ts';
import { addRunCommand } from './commands/run.ts';
import { isAnswerError } from './inspect/answer-error.ts';
import { version } from './system/version.ts';
import { isUsageError } from './terminal/usage-error.ts';

const program = new Command('sluice')
  .description('Endpoints and EndpointSlices for Kubernetes, computed by event-sourced services over a message bus.')
  .version(version)
  .showHelpAfterError('(--help tells what there is)')
  .configureHelp({ showGlobalOptions: true })
  .exitOverride((error) => {
    // Commander has printed what was wrong. As kubectl and most tools do, wrong usage is status 2.
    process.exit(error.exitCode === 0 ? 0 : 2);
  });

addRunCommand(program);
addRoleCommands(program);
addClustersCommand(program);
addConsoleCommand(program);
addInspectCommands(program);
addDeadLettersCommand(program);
addParkedCommand(program);
addDoctorCommand(program);
addReplayCommand(program);
addConfigCommand(program);

try {
  await program.parseAsync();
} catch (error) {
  if (!isUsageError(error) && !isAnswerError(error)) throw error;
  process.stderr.write(`${colors.red('error')} ${error.message}\n`);
  process.exitCode = isUsageError(error) ? 2 : 1;
}
