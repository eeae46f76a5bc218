import { UsageError } from '@sluice/process';
import { count, list, parseCommandLine } from '@sluice/program';
import { CONTROLLERS, type Controller } from './controllers.ts';
import { type Output, outputOf } from './output.ts';
import type { Shape } from './shape.ts';

export interface Options {
  readonly shape: Shape;
  readonly rates: readonly number[];
  readonly seconds: number;
  readonly rounds: number;
  readonly controllers: readonly Controller[];
  readonly output: Output;
  readonly json: string | undefined;
  readonly from: string | undefined;
  readonly profile: string | undefined;
  readonly timeoutSeconds: number;
  readonly fsync: boolean;
}

const LONGEST_NAME = Math.max(...CONTROLLERS.map(({ name }) => name.length));

export const HELP = `usage: node bench/latency.ts [options]      (or: npm run bench -- [options])

Starts a real kube-apiserver and etcd per controller, creates Services and ready Pods, and measures the cold start
of the controller and then the latency of Pods that flip their readiness at a fixed rate: from the response to the
Pod's status write to the watch event of the EndpointSlice that shows it. The first call builds the servers, which
needs Go and takes some minutes. Run nothing else on the machine, or the figures mean little.

  --services N       Services (100)
  --pods N           Pods per Service (20)
  --rates LIST       flips per second, one rate after the other; "none" for the cold start only (20,100,200)
  --seconds N        duration at each rate (20)
  --rounds N         rounds; in each one every controller is measured once (5)
  --controllers LIST some of (all):
${CONTROLLERS.map(({ name, description }) => `                       ${name.padEnd(LONGEST_NAME)}  ${description}`).join('\n')}
  --output FORMAT    table, json or markdown, on standard output (table)
  --markdown         the same as --output markdown
  --json FILE        also write all rounds to this file, as JSON
  --from FILE        measure nothing; print a file written by --json
  --profile DIR      folder for CPU profiles of Sluice, which raise its CPU time; see bench/profile-summary.ts
  --timeout N        maximum wait for a controller, in seconds (120)
  --fsync            etcd with fsync, as in production
  --help             this text
`;

const defaults = {
  services: '100',
  pods: '20',
  rates: '20,100,200',
  seconds: '20',
  rounds: '5',
  controllers: undefined,
  output: 'table',
  markdown: false,
  json: undefined,
  from: undefined,
  profile: undefined,
  timeout: '120',
  fsync: false,
} as const;

/** Returns `help` for `--help`. @throws UsageError */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const line = parseCommandLine({ options: defaults }, args);
  if (line === 'help') return 'help';
  const { options: values } = line;
  return {
    shape: { services: count('services', values.services), pods: count('pods', values.pods) },
    rates: values.rates === 'none' ? [] : list(values.rates).map((rate) => count('rates', rate)),
    seconds: count('seconds', values.seconds),
    rounds: count('rounds', values.rounds),
    controllers: values.controllers === undefined ? CONTROLLERS : list(values.controllers).map(controllerNamed),
    output: values.markdown ? 'markdown' : outputOf(values.output),
    json: values.json,
    from: values.from,
    profile: values.profile,
    timeoutSeconds: count('timeout', values.timeout),
    fsync: values.fsync,
  };
}

function controllerNamed(name: string): Controller {
  const controller = CONTROLLERS.find((known) => known.name === name);
  if (controller !== undefined) return controller;
  throw new UsageError(`--controllers: "${name}" must be one of ${CONTROLLERS.map((known) => known.name).join(', ')}`);
}
