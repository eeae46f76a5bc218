import { setTimeout as sleep } from 'node:timers/promises';
import type { TraceView } from '@sluice/console';
import { type ConsoleClient, followEntries, type HistoryEntry, QueryError } from '@sluice/console/client';
import {
  findService,
  historyPreface,
  logLines,
  printEntry,
  printPodDetail,
  printService,
  printTrace,
  printTraces,
  type TextFormat,
  textFormatFor,
  traceLines,
} from '@sluice/console/terminal';
import { print, systemClock, UsageError } from '@sluice/platform/process';
import type { Command } from 'commander';
import { explainInAllClusters, historyInAllClusters } from './all-clusters.ts';
import { atOf, clientFor, sinceOf, untilOf, waitForConsole } from './client-for.ts';
import { addOutput, addPeriod, addServiceOptions, qualifiedName, type ServiceOptions } from './service-options.ts';

interface Options extends ServiceOptions {
  readonly output: 'text' | 'json';
  readonly pod?: string;
  readonly since?: string;
  readonly until?: string;
  readonly at?: string;
  readonly follow?: boolean;
  readonly allClusters?: true;
  readonly id?: string;
}

/** Adds `history`, `explain` and `trace`, which query a console about one Service. */
export function addInspectCommands(program: Command): void {
  // What follows `history export` are options of `export`.
  program.enablePositionalOptions();
  const entries = add(program, 'history', 'what was observed, decided and written for a Service, with causes', history)
    .option('--pod <name>', 'only entries of this Pod')
    .option('-f, --follow', 'follow new entries until SIGINT')
    .option('--all-clusters', 'the Service in all clusters, on one time axis');
  addPeriod(entries, 'the whole history');
  addExport(entries);
  add(program, 'explain', 'why each Pod of a Service gets traffic or not, now or at a past time', explain)
    .option('--pod <name>', 'only this Pod, which may be deleted')
    .option('--all-clusters', 'how all clusters together serve the Service, now')
    .option(
      '--at <time>',
      'e.g. 03:12 (the most recent one), "5m ago" or 2026-03-01T03:12, with or without zone (default: now)',
    );
  add(program, 'trace', 'traces of recent writes of a Service, and how long each step took', trace)
    .option('--since <duration>', 'how far back, e.g. 1h or 30m (default: the whole history)')
    .option('--id <trace id>', 'show the spans of this trace (default: the newest recorded one)');
}

function add(
  program: Command,
  name: string,
  summary: string,
  action: (service: string, options: Options, client: ConsoleClient) => Promise<void>,
): Command {
  const command = program
    .command(`${name} <[namespace/]service>`)
    .summary(summary)
    .description(
      `Shows ${summary}. Needs a console.\nExits with status 1 if there is no answer, and 2 for invalid arguments.`,
    );
  return addOutput(addServiceOptions(command), 'text', 'json').action(async (service: string, options: Options) =>
    action(await qualifiedName(service, options), options, clientFor(options, { wait: waitForConsole })),
  );
}

/** Adds `history export`. */
function addExport(history: Command): void {
  const command = history
    .usage('[options] <[namespace/]service>')
    .command('export <service>')
    .summary('print the messages of a Service, one per line, to replay its decisions in a test')
    .description(
      'Prints the messages from which the state of a Service follows, each a line of JSON, in the order in which they\n' +
        'were applied. A test replays them: see docs/contributing/testing.md. A Service is named NAMESPACE/SERVICE or\n' +
        'CLUSTER/NAMESPACE/SERVICE. Needs a console.\n' +
        'Exits with status 1 if there is no answer, and 2 for invalid arguments.',
    );
  addServiceOptions(command).action(async (text: string, options: Options) => {
    const [cluster, service] = await splitCluster(text, options);
    const client = clientFor(options, { wait: waitForConsole });
    const name = await findService(client, await client.overview(), service, cluster);
    const log = await client.log(name);
    print(process.stdout, logLines(log));
    if (!log.complete) print(process.stderr, 'the history does not reach back to the first snapshot of this Service\n');
  });
}

async function splitCluster(text: string, options: Options): Promise<readonly [string | undefined, string]> {
  const { cluster, namespace } = options;
  const parts = text.split('/');
  if (parts.length !== 3) return [cluster, await qualifiedName(text, options)];
  const [named, ...service] = parts;
  if (cluster === undefined && namespace === undefined) return [named, service.join('/')];
  throw new UsageError(`${JSON.stringify(text)} already names cluster and namespace; remove --cluster and -n`);
}

async function history(service: string, options: Options, client: ConsoleClient): Promise<void> {
  const since = sinceOf(options.since);
  if (options.allClusters) {
    checkAllClusters(options, ['cluster', 'follow']);
    const question = { ...options, client, service, format: textFormatFor(process.stdout, systemClock.now()) };
    const period = { since, until: untilOf(options.until), pod: options.pod };
    return print(process.stdout, await historyInAllClusters(question, period));
  }
  const name = await findService(client, await client.overview(), service, options.cluster);
  const query = { pod: options.pod };
  const until = untilOf(options.until);
  const view = await client.history(name, { ...query, since, until, limit: 5_000 });
  const format = textFormatFor(process.stdout, systemClock.now());
  if (options.output === 'text') print(process.stdout, historyPreface(view, since, format));
  printEntries(view.entries, options, format);
  if (!options.follow) return;
  const fresh = followEntries((from) => client.follow(name, { ...query, since: from }), {
    known: view.entries,
    since: since ?? 0,
    now: () => systemClock.now(),
    onLost: () => print(process.stderr, 'lost the connection to the console; reconnecting\n'),
    pause: () => sleep(reconnectMs),
  });
  for await (const entry of fresh) printEntries([entry], options, { ...format, now: systemClock.now() });
}

/** @throws UsageError if options were given that select less than all clusters, or follow them */
function checkAllClusters(options: Options, excluded: readonly ('cluster' | 'pod' | 'at' | 'follow')[]): void {
  const given = excluded.find((name) => options[name] !== undefined);
  if (given !== undefined) throw new UsageError(`--${given} and --all-clusters exclude each other; remove one of them`);
}

/** Delay before reconnecting to a console. */
const reconnectMs = 2_000;

function printEntries(entries: readonly HistoryEntry[], { output }: Options, format: TextFormat): void {
  for (const entry of entries) show(entry, { output }, () => printEntry(entry, format));
}

function show(value: unknown, { output }: Pick<Options, 'output'>, text: () => string): void {
  print(process.stdout, output === 'json' ? `${JSON.stringify(value)}\n` : text());
}

async function explain(service: string, options: Options, client: ConsoleClient): Promise<void> {
  const at = atOf(options);
  if (options.allClusters) {
    checkAllClusters(options, ['cluster', 'pod', 'at']);
    const question = { ...options, client, service, format: textFormatFor(process.stdout, systemClock.now()) };
    return print(process.stdout, await explainInAllClusters(question));
  }
  const overview = await client.overview();
  const name = await findService(client, overview, service, options.cluster);
  const format = textFormatFor(process.stdout, systemClock.now());
  const { pod } = options;
  if (pod === undefined) {
    const detail = await client.service(name, at);
    return show(detail, options, () => printService(detail, format));
  }
  const view = await client.pod(name, pod, at);
  if (view.verdict === 'unknown' && view.lastChange === null && view.placements.length === 0) {
    const { pods } = await client.service(name, at);
    const known = pods.map((one) => one.pod).join(', ');
    throw new QueryError(
      `no history for Pod ${pod}: ${view.reasons.join('; ')}\n${known === '' ? 'The Service has no Pods.' : `Known Pods: ${known}`}`,
    );
  }
  const cluster = overview.clusters.find((one) => one.identity === name.cluster || one.name === name.cluster);
  const heading = { service, clusterName: cluster?.name ?? name.cluster, at };
  show(view, options, () => printPodDetail(view, heading, format));
}

async function trace(service: string, options: Options, client: ConsoleClient): Promise<void> {
  const since = sinceOf(options.since);
  const overview = await client.overview();
  const name = await findService(client, overview, service, options.cluster);
  if (options.id !== undefined) {
    const view = await client.trace(options.id);
    return show(view, options, () => treeOf(view));
  }
  const lines = traceLines(await client.history(name, { since, limit: 5_000 }), overview.jaeger).slice(0, 50);
  if (options.output === 'json')
    return print(process.stdout, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  if (lines.length === 0) {
    throw new QueryError(
      'no traced writes in this period; enable tracing with --otlp-endpoint on watchers, reconcilers and writers',
    );
  }
  print(process.stdout, printTraces(lines, textFormatFor(process.stdout, systemClock.now())));
  const newest = lines.find(({ recorded }) => recorded);
  if (!overview.traces || newest === undefined) return;
  // The newest trace may not have reached Jaeger yet; the list is useful without it.
  const view = await client.trace(newest.traceId).catch((error: unknown) => error);
  print(process.stdout, view instanceof Error ? `\n${view.message}\n` : `\n${treeOf(view as TraceView)}`);
}

const treeOf = (view: TraceView): string => printTrace(view, textFormatFor(process.stdout, systemClock.now()));
