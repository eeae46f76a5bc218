import { parseServiceKey } from '@sluice/messages';
import { errorMessage } from '@sluice/platform';
import { createLogger, exitStatus, localTime, print, systemClock, UsageError, version } from '@sluice/platform/process';
import { exportRecording, RecordingReader } from '@sluice/recording';
import type { Command } from 'commander';
import { coverageOf } from '../../composition/open-recording.ts';
import { sinceOf, untilOf } from './client-for.ts';
import { addPeriod } from './service-options.ts';

interface Options {
  readonly since?: string;
  readonly until?: string;
  readonly cluster?: string;
  readonly namespace?: string;
  readonly service?: string;
  readonly redact?: true;
}

export function addRecordCommand(program: Command): void {
  const record = program
    .command('record')
    .summary('export a part of a recording')
    .description('Exports a part of a recording.');
  const command = record
    .command('export <recording> <target>')
    .summary('copy the records of some Services in a period to a new recording')
    .description(
      'Copies the records of the selected Services in a period to a new directory, which "sluice open" opens. The new recording\n' +
        'starts with the state of the Services at that time. It contains names, addresses and labels of their Pods, which --redact\n' +
        'replaces by pseudonyms. Times are relative to the end of the recording.\nExits with status 1 if nothing matches, and 2 for invalid arguments.',
    )
    .option('--cluster <name>', 'only the cluster with this name or UID')
    .option('-n, --namespace <name>', 'only this namespace')
    .option('--service <name>', 'only Services with this name')
    .option('--redact', 'replace names, addresses, labels and messages by pseudonyms');
  addPeriod(command, 'the whole recording', 'the end of the recording').action(exportPart);
}

function exportPart(path: string, directory: string, options: Options): void {
  const reader = new RecordingReader(path);
  try {
    const { from, to } = coverageOf(path, reader).period;
    const since = sinceOf(options.since, to) ?? from;
    const until = untilOf(options.until, to) ?? to;
    if (until < from || since > to || since > until) {
      const [first, last] = [from, to].map((at) => localTime(at, systemClock.now()));
      throw new UsageError(`the period is empty; the recording is from ${first} to ${last}`);
    }
    const period = { from: Math.max(from, since), to: Math.min(to, until) };
    const isWanted = filterOf(options, reader.clusterNames());
    const logger = createLogger('text', 'info');
    const selection = { period, isWanted, isRedacted: options.redact === true };
    const exported = exportRecording(reader, { ...selection, directory, version, logger });
    if (exported.services === 0) process.exitCode = exitStatus.failure;
    print(process.stdout, `exported ${exported.records} records of ${exported.services} Services to ${directory}\n`);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`cannot export ${path}: ${errorMessage(error)}`);
  } finally {
    reader.close();
  }
}

function filterOf({ cluster, namespace, service }: Options, clusterNames: ReadonlyMap<string, string>) {
  const isAsked = (asked: string | undefined, ...names: readonly (string | undefined)[]) =>
    asked === undefined || names.includes(asked);
  return (text: string): boolean => {
    const key = parseServiceKey(text);
    return (
      isAsked(cluster, key.cluster, clusterNames.get(key.cluster)) &&
      isAsked(namespace, key.namespace) &&
      isAsked(service, key.service)
    );
  };
}
