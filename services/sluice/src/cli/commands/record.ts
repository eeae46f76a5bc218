import { parseServiceKey } from '@sluice/messages';
import { errorMessage } from '@sluice/platform';
import { exitStatus, localTime, print, systemClock, UsageError } from '@sluice/platform/process';
import { RecordingReader } from '@sluice/recording';
import { type Command, Option } from 'commander';
import colors from 'picocolors';
import { coverageOf } from '../../composition/open-recording.ts';
import { sinceOf, untilOf } from './client-for.ts';
import { type ExportFormat, exportAs, exportFormats } from './export-as.ts';
import { addPeriod } from './service-options.ts';

interface Options {
  readonly since?: string;
  readonly until?: string;
  readonly cluster?: string;
  readonly namespace?: string;
  readonly service?: string;
  readonly redact?: true;
  readonly encryptTo?: readonly string[];
  readonly format: ExportFormat;
}

export function addRecordCommand(program: Command): void {
  const record = program
    .command('record')
    .summary('export a part of a recording')
    .description('Exports a part of a recording.');
  const command = record
    .command('export <recording> <target>')
    .summary('copy the records of some Services in a period to a new recording or file')
    .description(
      'Copies the records of the selected Services in a period to a new directory, which "sluice open" opens, or with --format\n' +
        'to a new file or "-" for standard output. They start with the state of the Services at that time, and contain names,\n' +
        'addresses and labels of their Pods, which --redact replaces by pseudonyms. Times are relative to the end of the recording.\n' +
        'Exits with status 1 if nothing matches, and 2 for invalid arguments.',
    )
    .option('--cluster <name>', 'only the cluster with this name or UID')
    .option('-n, --namespace <name>', 'only this namespace')
    .option('--service <name>', 'only Services with this name')
    .option('--redact', 'replace names, addresses, labels and messages by pseudonyms')
    .option('--encrypt-to <recipient...>', 'write one file that age encrypts to these public keys (age1…)')
    .addOption(
      new Option('--format <format>', 'a recording, lines of JSON, logs of OpenTelemetry as lines of JSON, or Parquet')
        .choices(exportFormats)
        .default('recording'),
    );
  addPeriod(command, 'the whole recording', 'the end of the recording').action(exportPart);
}

async function exportPart(path: string, target: string, options: Options): Promise<void> {
  const { format, redact, encryptTo } = options;
  if (encryptTo !== undefined && (format !== 'recording' || target === '-')) {
    throw new UsageError('--encrypt-to writes a recording to a file; encrypt other formats with the command age');
  }
  if (target === '-' && (format === 'recording' || format === 'parquet')) {
    throw new UsageError(
      'standard output takes only --format jsonl or otlp; name a new directory, or a file for parquet',
    );
  }
  const unreadable: string[] = [];
  const reader = new RecordingReader(path, (reason) => void unreadable.push(reason));
  try {
    const isWanted = filterOf(options, reader.clusterNames());
    const selection = { period: periodOf(path, reader, options), isWanted, isRedacted: redact === true };
    const exported = await exportAs(format, reader, selection, { target, encryptTo });
    if (exported.services === 0) process.exitCode = exitStatus.failure;
    const output = target === '-' ? process.stderr : process.stdout;
    for (const reason of unreadable) print(process.stderr, `${colors.yellow('warning:')} not exported: ${reason}\n`);
    print(output, `exported ${exported.records} records of ${exported.services} Services to ${target}\n`);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`cannot export ${path}: ${errorMessage(error)}`);
  } finally {
    reader.close();
  }
}

function periodOf(path: string, reader: RecordingReader, options: Options) {
  const { from, to } = coverageOf(path, reader).period;
  const since = sinceOf(options.since, to) ?? from;
  const until = untilOf(options.until, to) ?? to;
  if (until < from || since > to || since > until) {
    const [first, last] = [from, to].map((at) => localTime(at, systemClock.now()));
    throw new UsageError(`the period is empty; the recording is from ${first} to ${last}`);
  }
  return { from: Math.max(from, since), to: Math.min(to, until) };
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
