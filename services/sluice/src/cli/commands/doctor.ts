import { type ClusterCandidate, type ClusterSource, clusterSources } from '@sluice/clusters';
import { addConfigurationOptions, configurationOf } from '@sluice/configuration';
import { isKubeconfigError } from '@sluice/kubernetes';
import { type Check, checkCluster, failed, jsonChecks, listChecks, warning } from '@sluice/preflight';
import { columnsOf, createLogger, exitStatus, showWait, systemClock, systemRandom } from '@sluice/process';
import { errorMessage } from '@sluice/runtime';
import { type Command, Option } from 'commander';
import { checkInfrastructure } from '../doctor/check-infrastructure.ts';
import { historyCheck } from '../doctor/history-check.ts';
import { clustersToRead } from './default-cluster.ts';

export function addDoctorCommand(program: Command): void {
  const command = program
    .command('doctor')
    .summary('check clusters, bus and store')
    .description(
      'Checks what Sluice needs: versions, permissions, clocks, bus, store, and whether another controller still writes\n' +
        'the same objects. It changes nothing, except with --probe. Exit status: 0, or 1 if something failed.',
    )
    .addOption(
      new Option(
        '--probe',
        'create and delete a Service in namespace default, to see whether a controller writes for it',
      ),
    )
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table'));
  addConfigurationOptions(command).action(async () => {
    const { output, probe = false } = command.opts<{ output: 'table' | 'json'; probe?: boolean }>();
    const configuration = await configurationOf(command, process.env, (text) => void process.stderr.write(`${text}\n`));
    const ports = { clock: systemClock, random: systemRandom };
    const logger = createLogger('text', 'error');
    const wait = <T>(what: string, work: Promise<T>) =>
      showWait(what, work, { clock: systemClock, output: process.stderr });
    const infrastructure = await wait('checking bus and store', checkInfrastructure(configuration, ports));
    const checks: Check[] = [...infrastructure, historyCheck(configuration)];
    const sources = clusterSources(probe ? configuration : clustersToRead(configuration), process.env, {
      ...ports,
      logger,
    });
    for (const source of sources) {
      const work = checkSource(source, { ...ports, logger }, probe);
      checks.push(...(await wait(`checking the clusters in ${source.about}`, work)));
    }
    if (sources.length === 0) {
      const advice = 'pass --kubeconfig FILE, --context NAME or --in-cluster, or list clusters in --config FILE';
      checks.push(warning('clusters', 'configuration', 'no cluster configured', advice));
    }
    process.stdout.write(output === 'json' ? jsonChecks(checks) : listChecks(checks, columnsOf(process.stdout)));
    if (checks.some(({ result }) => result === 'failed')) process.exitCode = exitStatus.failure;
  });
}

type Ports = Parameters<typeof checkCluster>[2];

/** Time limit for a source to respond, in milliseconds. */
const timeoutMs = 35_000;

/** The checks of each cluster that the source lists; a source or an entry that cannot be read is a failed check. */
async function checkSource(source: ClusterSource, ports: Ports, probe: boolean): Promise<readonly Check[]> {
  try {
    const { candidates, problems } = await source.read(AbortSignal.timeout(timeoutMs));
    const checks = problems.map(({ name, reason }) => unusable(name, reason));
    for (const candidate of candidates) checks.push(...(await checkCandidate(candidate, ports, probe)));
    return checks;
  } catch (error) {
    return [failed('clusters', source.about, errorMessage(error), 'correct the source as the message says')];
  }
}

async function checkCandidate({ name, load }: ClusterCandidate, ports: Ports, probe: boolean) {
  try {
    return await checkCluster(name, await load(), ports, { probe });
  } catch (error) {
    if (!isKubeconfigError(error)) throw error;
    return [unusable(name, error.message)];
  }
}

const unusable = (name: string, reason: string): Check =>
  failed(`cluster ${name}`, 'kubeconfig', reason, 'correct the kubeconfig');
