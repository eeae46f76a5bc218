import { type Command, Option } from 'commander';
import type { Configuration } from '../configuration.ts';
import type { ConfigurationSources } from '../load-configuration.ts';
import type { Environment } from '../process-layers.ts';
import { flagOf, type Path, paths, settingAt } from '../setting-paths.ts';

/** The flag of a setting. */
class SettingOption extends Option {
  constructor(path: Path, flags: string) {
    super(flags, helpOf(path));
    const { kind, file } = settingAt(path);
    if (kind.choices !== undefined) this.choices(kind.choices);
    // As in kube-controller-manager, one wrong flag is reported at once. Others are reported with the whole configuration.
    const parseFlag = /^(controllers|watcher|writer|traces)\./.test(path) && !file ? kind.parseFlag : undefined;
    if (parseFlag !== undefined) this.argParser((text) => parseFlag(text, this.long ?? ''));
  }
}

/** The description of a setting, with flags in place of other settings, and its default. */
function helpOf(path: Path): string {
  const { about, kind, file, ...setting } = settingAt(path);
  const text = about.replaceAll(/`([^`]*)`/g, (_, quoted: string) => {
    const other = paths.find((one) => one === quoted);
    return (other && flagOf(other)) ?? quoted;
  });
  if (file) return `file with the ${text}`;
  const range = kind.range === undefined ? '' : `${kind.range}, `;
  if ('default' in setting)
    return setting.default === false ? text : `${text} (${range}default ${kind.show(setting.default)})`;
  return setting.example === undefined ? text : `${text} (e.g. ${String(setting.example)})`;
}

/** Adds the flags of the settings at or below the given paths, in a group of the help. */
export function addFlags(command: Command, heading: string, ...below: readonly string[]): Command {
  command.optionsGroup(heading);
  for (const path of below.flatMap((one) => paths.filter((path) => path === one || path.startsWith(`${one}.`)))) {
    const { flag } = settingAt(path);
    if (flag !== undefined) command.addOption(new SettingOption(path, flag));
  }
  return command;
}

/** Adds `--config` and the flags that override it; `configurationOf` reads them. */
export function addConfigurationOptions(command: Command): Command {
  const fleet = 'Fleet, bus and store:';
  command
    .optionsGroup(fleet)
    .option('--config <file>', 'configuration file (YAML), see "sluice config --example" (default $SLUICE_CONFIG)');
  addFlags(command, fleet, 'fleet', 'partitions', 'bus', 'store');
  addFlags(command, 'Clusters:', 'cluster', 'clusterSecrets');
  addFlags(command, 'Process:', 'leases', 'log', 'metricsBindAddress');
  return addServiceFlags(command);
}

/** Adds the flags of all services. */
export function addServiceFlags(command: Command): Command {
  addFlags(command, 'Traces:', 'traces');
  addFlags(command, 'Controllers:', 'controllers');
  addFlags(command, 'Watches:', 'watcher');
  return addFlags(command, 'Writes:', 'writer');
}

/** Adds the flags of a console. Other commands accept these settings in the file and ignore them. */
export function addConsoleOptions(command: Command): Command {
  return addFlags(command, 'Console:', 'console');
}

/** Adds the flags of a recording. Other commands accept these settings in the file and ignore them. */
export function addRecordingFlags(command: Command): Command {
  return addFlags(command, 'Recording:', 'recording');
}

/** The sources from which to load a command's configuration: its flags as given, and the environment. */
export function configurationSources(
  command: Command,
  environment: Environment,
  warn: (text: string) => void,
): ConfigurationSources {
  const given = command.options.filter(
    (option) => option instanceof SettingOption && command.getOptionValueSource(option.attributeName()) === 'cli',
  );
  const flags = Object.fromEntries(
    given.map((option): [string, unknown] => [option.long ?? '', command.getOptionValue(option.attributeName())]),
  );
  return { file: command.opts<{ config?: string }>().config, environment, flags, warn };
}

/**
 * Loads the configuration of a command that has `addConfigurationOptions`, for use in its action.
 *
 * @throws UsageError with all problems, without secrets
 */
export async function configurationOf(
  command: Command,
  environment: Environment,
  warn: (text: string) => void,
): Promise<Configuration> {
  // Loaded on demand: the YAML parser would slow down every other command.
  const { loadConfiguration } = await import('../load-configuration.ts');
  return loadConfiguration(configurationSources(command, environment, warn));
}

/** Like `configurationOf`, as a function that reads all files again at each call. It warns of nothing. */
export async function rereadConfigurationOf(command: Command, environment: Environment): Promise<() => Configuration> {
  const { loadConfiguration } = await import('../load-configuration.ts');
  const sources = configurationSources(command, environment, () => {});
  return () => loadConfiguration(sources);
}
