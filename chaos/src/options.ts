import { count, oneOf, parseCommandLine, UsageError } from '@sluice/program';

export interface Options {
  readonly actions: number;
  /** Instead of all kinds of actions, only freezes of owners. */
  readonly freezesOnly: boolean;
  readonly seed: number;
  readonly bus: 'nats' | 'kafka';
  readonly rate: number;
  readonly partitions: number;
  /** Between two actions, on average, in milliseconds. */
  readonly pauseMs: number;
  readonly output: 'table' | 'json';
  /** Where to keep logs, plans and the audit log. Left out: a temporary one, removed if all is well. */
  readonly directory: string | undefined;
}

export const HELP = `usage: npm run chaos -- [options]

Starts a genuine kube-apiserver and etcd with an audit log, NATS or Kafka, Redis, and a fleet of 2 watchers, 3 reconcilers
and 2 writers as processes. While Services, Pods, Nodes and Endpoints change, processes and servers are killed, frozen and
restarted, and bus and store lose things, at random. Then, and after every 50 actions, the fleet must come to rest with
everything right, and each write in the audit log must be one that a plan asked for, once and in order.

  --actions N        how many things are done to the fleet (50)
  --freezes N        instead of them: so many freezes of 4 s of watchers, reconcilers and writers
  --seed N           of actions and changes; the same seed does the same in the same order (left out: by chance, and told)
  --bus NAME         nats or kafka (nats)
  --rate N           changes a second (50)
  --partitions N     of the bus (16)
  --pause MS         from one action to the next, a quarter more or less; an outage lasts up to 4 s (1500; freezes: 2750)
  --output FORMAT    table or json, on standard output (table)
  --directory DIR    keep logs, plans and the audit log there; left out, they are kept only if something is wrong
  --help             this text

The exit status is 1 if anything was wrong, 2 if the run could not be made.
`;

const defaults = {
  actions: undefined,
  freezes: undefined,
  seed: undefined,
  bus: 'nats',
  rate: '50',
  partitions: '16',
  pause: undefined,
  output: 'table',
  directory: undefined,
} as const;

/** @throws UsageError; `help` when only the help is wanted */
export function parseOptions(args: readonly string[], chooseSeed: () => number): Options | 'help' {
  const line = parseCommandLine({ options: defaults }, args);
  if (line === 'help') return 'help';
  const { options: values } = line;
  if (values.actions !== undefined && values.freezes !== undefined) {
    throw new UsageError('--actions and --freezes: give one of them');
  }
  return {
    actions: count('actions', values.freezes ?? values.actions ?? '50'),
    freezesOnly: values.freezes !== undefined,
    seed: values.seed === undefined ? chooseSeed() : count('seed', values.seed),
    bus: oneOf('bus', values.bus, ['nats', 'kafka']),
    rate: count('rate', values.rate),
    partitions: count('partitions', values.partitions),
    pauseMs: count('pause', values.pause ?? defaultPause(values.freezes !== undefined)),
    output: oneOf('output', values.output, ['table', 'json']),
    directory: values.directory,
  };
}

const defaultPause = (freezesOnly: boolean): string => (freezesOnly ? '2750' : '1500');

/** The command that does the same again. */
export function commandOf({ actions, freezesOnly, seed, bus, rate, partitions, pauseMs }: Options): string {
  const more = [
    ...(bus === 'nats' ? [] : ['--bus', bus]),
    ...(rate === 50 ? [] : ['--rate', rate]),
    ...(partitions === 16 ? [] : ['--partitions', partitions]),
    ...(String(pauseMs) === defaultPause(freezesOnly) ? [] : ['--pause', pauseMs]),
  ];
  return ['npm run chaos --', freezesOnly ? '--freezes' : '--actions', actions, '--seed', seed, ...more].join(' ');
}
