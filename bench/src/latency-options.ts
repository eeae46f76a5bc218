import { choice, flag, integer, integers, optionsHelp, parseOptions, selection, text } from '@sluice/program';
import { CONTROLLERS, type Controller } from './controllers.ts';
import { type Output, outputs } from './output.ts';
import { defaultNamespaces, type Shape } from './shape.ts';
import { samplesForP99 } from './statistics.ts';

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

const rates = integers([20, 100], 'flips per second, one rate after the other; "none" for the cold start only');

const declared = {
  services: integer(100, 'Services'),
  pods: integer(20, 'Pods per Service'),
  namespaces: integer(defaultNamespaces, 'namespaces over which the Services are spread'),
  rates: { ...rates, parse: (name: string, given: unknown) => (given === 'none' ? [] : rates.parse(name, `${given}`)) },
  seconds: integer(10, `shortest duration at each rate; rounds are long enough for ${samplesForP99} flips in all`),
  rounds: integer(5, 'rounds; in each one every controller is measured once'),
  controllers: selection(
    CONTROLLERS.map(({ name }) => name),
    'controllers',
  ),
  output: choice(outputs, 'table', 'output format'),
  json: text('FILE', 'also write all rounds to this file, as JSON'),
  from: text('FILE', 'measure nothing; print a file written by --json'),
  profile: text('DIR', 'folder for CPU profiles of Sluice, which raise its CPU time; see bench/profile-summary.ts'),
  timeout: integer(120, 'maximum wait for a controller, in seconds'),
  fsync: flag('etcd with fsync, as in production'),
};

const legend = CONTROLLERS.map(({ name, description }) => `  ${name}: ${description}\n`).join('');

export const HELP = `usage: node bench/latency.ts [options]      (or: npm run bench -- [options])

Starts a real kube-apiserver and etcd per controller, creates Services and ready Pods, and measures the cold start
of the controller and then the latency of Pods that flip their readiness at a fixed rate: from the response to the
Pod's status write to the watch events of the EndpointSlice and of the Endpoints that show it, first cold, then warm,
after 3,000 flips. The first call builds the servers, which needs Go and takes some minutes. Run nothing else on the
machine, or the figures mean little.

${optionsHelp(declared)}
Controllers:
${legend}`;

/** Returns `help` for `--help`. @throws UsageError */
export function parseLatencyOptions(args: readonly string[]): Options | 'help' {
  const values = parseOptions(declared, args);
  if (values === 'help') return 'help';
  const { services, pods, namespaces, controllers, timeout, ...others } = values;
  return {
    ...others,
    shape: { services, pods, namespaces },
    // The list itself if all are selected, which shortens the command that repeats the measurement.
    controllers:
      controllers.length === CONTROLLERS.length
        ? CONTROLLERS
        : controllers.flatMap((name) => CONTROLLERS.filter((controller) => controller.name === name)),
    timeoutSeconds: timeout,
  };
}
