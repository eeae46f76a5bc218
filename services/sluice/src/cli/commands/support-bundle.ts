import { writeFileSync } from 'node:fs';
import { addConfigurationOptions, type Configuration, configurationSources } from '@sluice/fleet/configuration';
import { openInfrastructure } from '@sluice/fleet/roles';
import { jsonChecks } from '@sluice/kubernetes/preflight';
import { errorMessage } from '@sluice/platform';
import {
  createLogger,
  defaultBindAddress,
  formatBindAddress,
  print,
  showWait,
  systemClock,
  systemRandom,
  UsageError,
  version,
} from '@sluice/platform/process';
import type { Command } from 'commander';
import { checkAll } from '../doctor/check-all.ts';
import { type BundleFile, packBundle, readFleet, readLog, readProcess } from '../support-bundle/bundle-files.ts';
import { bundleSecrets } from '../support-bundle/bundle-secrets.ts';

interface Options {
  readonly file?: string;
  readonly process?: readonly string[];
  readonly log?: readonly string[];
}

const defaultProcess = `http://${formatBindAddress(defaultBindAddress)}`;

export function addSupportBundleCommand(program: Command): void {
  const command = program
    .command('support-bundle')
    .summary('collect what a maintainer needs to find a problem, without secrets')
    .description(
      'Writes a tar.gz with versions, configuration, the checks of doctor, partitions, parked Services and dead letters of\n' +
        'a fleet, and metrics, health and logs of its processes. Secrets are replaced by ***. It changes nothing.',
    )
    .option('--file <file>', 'file to write (default: sluice-support-TIME.tar.gz in this directory)')
    .option('--process <url...>', `addresses of /metrics, /livez and /readyz of processes (default: ${defaultProcess})`)
    .option('--log <file...>', 'log files, for example of "kubectl logs"');
  addConfigurationOptions(command).action(async () => {
    const now = systemClock.now();
    const folder = `sluice-support-${new Date(now).toISOString().replace(/\.\d+/, '').replaceAll(':', '')}`;
    const { file = `${folder}.tar.gz`, process: urls = [defaultProcess], log = [] } = command.opts<Options>();
    const processes = urls.map(processUrl);
    const logs = log.map((path, index) => readLog(path, index + 1));
    const { resolveConfiguration, toYaml } = await import('@sluice/fleet/configuration/load');
    const warn = (text: string) => print(process.stderr, `${text}\n`);
    const { configuration, entries } = resolveConfiguration(configurationSources(command, process.env, warn));
    const checks = await checkAll(configuration);
    const read = Promise.all([Promise.all(processes.map(readProcess)), fleetOf(configuration)]);
    const terminal = { clock: systemClock, output: process.stderr };
    const [served, fleet] = await showWait('reading the processes, bus and store', read, terminal);
    const files: BundleFile[] = [
      { path: 'versions.json', text: `${JSON.stringify(versions(now), undefined, 2)}\n` },
      { path: 'configuration.yaml', text: toYaml(entries) },
      { path: 'checks.json', text: jsonChecks(checks) },
      ...[...served.flat(), ...fleet, ...logs],
    ];
    const bundle = packBundle(files, { folder, secrets: bundleSecrets(configuration, process.env), now });
    try {
      writeFileSync(file, bundle, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      throw new UsageError(`--file: ${errorMessage(error)}`);
    }
    print(
      process.stdout,
      `${files.map(({ path }) => `${path}\n`).join('')}\nWritten to ${file}. Read it before you send it.\n`,
    );
  });
}

function processUrl(given: string): string {
  const url = URL.parse(given);
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return given;
  throw new UsageError(`--process is ${JSON.stringify(given)}; expected a URL such as ${defaultProcess}`);
}

const versions = (now: number) => ({
  sluice: version,
  node: process.version,
  platform: `${process.platform}/${process.arch}`,
  collectedAt: new Date(now).toISOString(),
});

/** Nothing without a fleet; the reason if bus or store cannot be used. */
async function fleetOf(configuration: Configuration): Promise<readonly BundleFile[]> {
  if (configuration.bus.kind === 'memory' || configuration.store.kind === 'memory') return [];
  const ports = { clock: systemClock, random: systemRandom, logger: createLogger('text', 'error') };
  try {
    const fleet = await openInfrastructure(configuration, ports);
    try {
      return await readFleet(fleet, ports);
    } finally {
      await fleet.close();
    }
  } catch (error) {
    return [{ path: 'fleet/error.txt', text: `${errorMessage(error)}\n` }];
  }
}
