import type { ConsoleClient } from '@sluice/console/client';
import {
  lastTime,
  listDisruptions,
  listDrains,
  listOutages,
  listProblems,
  listPropagations,
  listReadinessChanges,
  printDisruptions,
  type TextFormat,
  textFormatFor,
} from '@sluice/console/terminal';
import { parseDuration, print, systemClock, UsageError } from '@sluice/platform/process';
import { type Command, InvalidArgumentError } from 'commander';
import { addConsoleAddress, type ConsoleOptions, clientFor, sinceOf, untilOf, waitForConsole } from './client-for.ts';
import { addListOutput, addNamespaces, checkNamespaces, type ListOptions, printYaml } from './list-options.ts';
import { addPeriod } from './service-options.ts';

interface Options extends ConsoleOptions, ListOptions {
  readonly since?: string;
  readonly until?: string;
  readonly cluster?: string;
  readonly limit: string;
  readonly for: string;
  readonly proxyDelay?: string;
  readonly all?: true;
  readonly output: 'table' | 'json' | 'yaml';
}

/** What every question asks for. */
interface Scope {
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly cluster: string | undefined;
  readonly namespace: string | undefined;
}

/** A question about all Services that a recording answers: what is asked, and how the answer is printed. */
interface Question<T> {
  /** With the argument, if it has one. */
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly ask: (
    client: ConsoleClient,
    scope: Scope,
    options: Options,
    argument: string | undefined,
  ) => Promise<readonly T[]>;
  readonly list: (
    found: readonly T[],
    /** `until`: what continues has lasted until then. */
    format: TextFormat & { readonly until: number },
    argument: string | undefined,
  ) => string;
}

/** Adds the questions about all Services that a recording answers. */
export function addQuestionCommands(program: Command): void {
  add(program, {
    name: 'problems',
    summary: 'what is wrong with Services',
    description:
      'Lists what is wrong with Services, the most severe first: now or at the end of the recording, or with --since and\n' +
      '--until what was wrong in a period. Shorter than usual changes do not count, unless --all is given.',
    ask: (client, scope, { all }) => {
      const isPeriod = scope.since !== undefined || scope.until !== undefined;
      return client.problems({ ...scope, ...(!isPeriod && { open: 'true' }), ...(all === true && { all: 'true' }) });
    },
    list: (found, format) => listProblems(found, format, 'Nothing is wrong with any Service.\n'),
  }).option('--all', 'also what has lasted no longer than usual changes');
  add(program, {
    name: 'outages',
    summary: 'when Services had no ready endpoint',
    description:
      'Lists when Services had no ready endpoint in their slices, how long, and the last event before. A Service without\n' +
      'a selector or with no Pods counts as well.',
    ask: (client, scope) => client.outages({ ...scope }),
    list: listOutages,
  });
  addLimit(
    add(program, {
      name: 'slow',
      summary: 'which changes of Pods took longest to reach slices and Endpoints',
      description:
        'Lists the changes of Pods that took longest until the slices or the Endpoints showed them: from the watch event of\n' +
        'the Pod to that of the write. A change that a later one superseded was never shown. Endpoints only from a second on.',
      ask: (client, scope, { limit }) => client.propagations({ ...scope, limit, startKnown: 'true' }),
      list: (found, format) => listPropagations(found, format, 'No Pod of a Service changed in this period.\n'),
    }),
  );
  addLimit(
    add(program, {
      name: 'stuck',
      summary: 'which Pods do not appear in slices or Endpoints as they should',
      description:
        'Lists Pods that the slices or the Endpoints of a Service do not show as they should, now or at the end of the\n' +
        'recording, longest first.',
      ask: (client, scope, options) =>
        client.propagations({
          ...scope,
          limit: options.limit,
          open: 'true',
          atLeastMs: durationOf('--for', options.for),
        }),
      list: (found, format) => listPropagations(found, format, 'Slices and Endpoints show every Pod as they should.\n'),
    }),
  ).option('--for <duration>', 'minimum duration', '5s');
  addLimit(
    add(program, {
      name: 'flapping',
      summary: 'which Pods became ready or not ready most often',
      description: 'Lists Pods by how often they became ready or not ready.',
      ask: (client, scope, { limit }) => client.readinessChanges({ ...scope, limit }),
      list: listReadinessChanges,
    }),
  );
  add(program, {
    name: 'drain',
    summary: 'how long Services take to stop sending traffic to a deleted Pod',
    description:
      'Lists for each Service how long it took until the slices no longer showed deleted Pods as ready, how long a Pod should\n' +
      'therefore continue to serve, and whether its preStop hooks sleep long enough. What proxies need after the slices is\n' +
      'assumed, because no API object shows it.',
    ask: (client, scope, { proxyDelay }) =>
      client.drains({ ...scope, proxyDelayMs: proxyDelay && durationOf('--proxy-delay', proxyDelay) }),
    list: listDrains,
  }).option('--proxy-delay <duration>', 'time from the slices to the rules of the last proxy (default: 2s)');
  addLimit(
    add(program, {
      name: 'node [node]',
      summary: 'what the loss, drain or reboot of a Node did to Services',
      description:
        'Lists when a Node was not ready, cordoned, evicted its Pods or was deleted, and for each Service with Pods on it: how\n' +
        'many, how many of these left the slices and how long the slowest took since the Node or the Pod was not ready or was\n' +
        'deleted, how many were deleted and replaced on other Nodes, and how long the Service had no ready endpoint. Without an\n' +
        'argument, lists the disruptions of all Nodes. A Node is known from the Pods of Services on it.',
      ask: (client, scope, { limit }, node) => client.nodeDisruptions({ ...scope, limit, node }),
      list: (found, format, node) =>
        node === undefined ? listDisruptions(found, format) : printDisruptions(node, found, format),
    }),
  );
}

function add<T>(program: Command, { name, summary, description, ask, list }: Question<T>): Command {
  const command = program
    .command(name)
    .summary(summary)
    .description(
      `${description}\nNeeds "sluice observe", "sluice open", or --recording-dir of "sluice run" or "sluice console".\n` +
        'Exits with status 1 if there is no answer, and 2 for invalid arguments.',
    )
    .option('--cluster <name>', 'only the cluster with this name or UID');
  addListOutput(addPeriod(addNamespaces(command), 'the whole recording'));
  return addConsoleAddress(command).action(async () => {
    const options = command.opts<Options>();
    const [argument] = command.args;
    const { cluster, namespace, output } = options;
    checkNamespaces(options);
    const scope = { since: sinceOf(options.since), until: untilOf(options.until), cluster, namespace };
    const client = clientFor(options, { wait: waitForConsole });
    const found = await ask(client, scope, options, argument);
    if (output === 'json') return print(process.stdout, found.map((one) => `${JSON.stringify(one)}\n`).join(''));
    if (output === 'yaml') return printYaml(found);
    const format = textFormatFor(process.stdout, systemClock.now());
    const until = lastTime(await client.overview(), format.now);
    print(process.stdout, list(found, { ...format, until }, argument));
  });
}

const addLimit = (command: Command): Command =>
  command.option('--limit <number>', 'how many to list, at most 1000', limitOf, '20');

function limitOf(text: string): string {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1_000) return text;
  throw new InvalidArgumentError('expected a number from 1 to 1000');
}

function durationOf(flag: string, text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms > 7 * 86_400_000)
    throw new UsageError(`${flag} is ${JSON.stringify(text)}; expected a duration of at most 168h, such as 2s`);
  return ms;
}
