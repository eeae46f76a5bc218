import {
  addConfigurationOptions,
  addConsoleOptions,
  addRecordingFlags,
  configurationSources,
} from '@sluice/fleet/configuration';
import { print } from '@sluice/platform/process';
import { type Command, Option } from 'commander';
import colors from 'picocolors';

interface ConfigOptions {
  readonly output: 'yaml' | 'json';
  readonly example?: true;
}

export function addConfigCommand(program: Command): void {
  const command = program
    .command('config')
    .summary('show the effective configuration from file, environment and flags, without secrets')
    .description(
      'Prints the effective configuration of watcher, reconciler, writer and console, with the origin of each value.\n' +
        'Secrets are masked as ***. Exits with status 2 if the configuration is invalid.',
    )
    .addOption(new Option('-o, --output <format>', 'output format').choices(['yaml', 'json']).default('yaml'))
    .option('--example', 'print an example file instead');
  addRecordingFlags(addConsoleOptions(addConfigurationOptions(command))).action(config);
}

async function config({ output, example }: ConfigOptions, command: Command): Promise<void> {
  // Loaded on demand: the settings' schemas and the YAML parser would slow down --help.
  const { exampleFile, resolveConfiguration, toJson, toYaml } = await import('@sluice/fleet/configuration/load');
  const warn = (warning: string) => print(process.stderr, `${colors.yellow('warning:')} ${warning}\n`);
  const text = () => {
    const { entries } = resolveConfiguration(configurationSources(command, process.env, warn));
    return output === 'json' ? toJson(entries) : toYaml(entries);
  };
  print(process.stdout, example ? exampleFile() : text());
}
