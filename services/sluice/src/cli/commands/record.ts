import { parseAt, parseSince } from '@sluice/console/terminal';
import { parseServiceKey } from '@sluice/messages';
import { errorMessage } from '@sluice/platform';
import { createLogger, exitStatus, localTime, print, systemClock, UsageError, version } from '@sluice/platform/process';
import { exportRecording, RecordingReader } from '@sluice/recording';
import type { Command } from 'commander';
import { addPeriod } from './service-options.ts';

interface Options {
  readonly since?: string;
  readonly until?: string;
  readonly cluster?: string;
  readonly namespace?: string;
  readonly service?: string;
}

export function addRecordCommand(program: Command): void {
  const record = program
    .command('record')
    .summary('export a part of a recording, to hand it over')
    .description('Exports a part of a recording.');
  const command = record
    .command('export <recording> <target>')
    .summary('write what is about some Services in a period to a recording of its own')
    .description(
      'Writes the part of a recording that is about some Services in a period to a new directory, which "sluice open" opens. It\n' +
        'begins with how the Services were, and contains the names, addresses and labels of their Pods. Times count from the end of\n' +
        'the recording.\nExits with status 1 if nothing matches, and 2 for invalid arguments.',
    )
    .option('--cluster <name>', 'only the cluster with this name or UID')
    .option('-n, --namespace <name>', 'only this namespace')
    .option('--service <name>', 'only Services with this name');
  addPeriod(command, 'the whole recording', 'the end of the recording').action(exportPart);
}

function exportPart(path: string, directory: string, options: Options): void {
  const reader = new RecordingReader(path);
  try {
    const { from, to } = periodOf(path, reader);
    const since = options.since === undefined ? from : (parseSince(options.since, to) ?? parseAt(options.since, to));
    const until = options.until === undefined ? to : parseAt(options.until, to);
    if (since === undefined) throw new UsageError(`--since is ${JSON.stringify(options.since)}; expected 1h or 14:02`);
    if (until === undefined) throw new UsageError(`--until is ${JSON.stringify(options.until)}; expected 14:05`);
    if (until < from || since > to || since > until) {
      const [first, last] = [from, to].map((at) => localTime(at, systemClock.now()));
      throw new UsageError(`the period is empty; the recording is from ${first} to ${last}`);
    }
    const period = { from: Math.max(from, since), to: Math.min(to, until) };
    const isWanted = filterOf(options, reader.clusterNames());
    const logger = createLogger('text', 'info');
    const exported = exportRecording(reader, { directory, period, isWanted, version, logger });
    if (exported.services === 0) process.exitCode = exitStatus.failure;
    print(process.stdout, `exported ${exported.records} records of ${exported.services} Services to ${directory}\n`);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`cannot export ${path}: ${errorMessage(error)}`);
  } finally {
    reader.close();
  }
}

function periodOf(path: string, reader: RecordingReader) {
  const { periods, problems } = reader.coverage();
  const [first, last] = [periods[0], periods.at(-1)];
  if (first !== undefined && last !== undefined) return { from: first.from, to: last.to };
  throw new UsageError(`${path} contains no recording of sluice${problems.map((one) => `\n${one}`).join('')}`);
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
