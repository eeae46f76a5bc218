import { addressFlips } from './address-flips.ts';
import { coldAndWarm, nodeDown, type Phase, rollingRestart, secondsAt } from './phase.ts';
import { namespaceNames, type Shape } from './shape.ts';

/** A cluster and its phases after the cold start; each controller runs it on its own control plane. */
export interface Workload {
  readonly name: string;
  readonly description: string;
  readonly shape: Shape;
  readonly phases: readonly Phase[];
  /** Restart the controller at the end, with everything written. */
  readonly restart?: boolean;
}

export interface WorkloadOptions {
  readonly rounds: number;
  /** Shortest duration at a rate. */
  readonly seconds: number;
  /** Of shapes with several Services. */
  readonly namespaces?: number | undefined;
}

const rates = [20, 100];

/** The workloads of the long comparison, in order. */
export function allWorkloads({ rounds, seconds, namespaces }: WorkloadOptions): readonly Workload[] {
  const secondsOf = (rate: number) => secondsAt(rate, rounds, seconds);
  const spread = namespaces === undefined ? {} : { namespaces };
  const atRates = (shape: Shape): Workload => ({
    name: `${shape.services}x${shape.pods}${shape.services > 1 && namespaceNames(shape).length === 1 ? '-one-namespace' : ''}`,
    description: `flips at ${rates.join(', ')}/s, cold and warm, then a restart with everything written`,
    shape,
    phases: coldAndWarm(rates, secondsOf),
    restart: true,
  });
  const large = { services: 1, pods: 1000 };
  const many = { services: 100, pods: 10, ...spread };
  const custom = { services: 100, pods: 10, ...spread, custom: true };
  return [
    atRates({ services: 100, pods: 20, ...spread }),
    atRates({ services: 500, pods: 5, ...spread }),
    atRates(large),
    atRates({ services: 1, pods: 5000 }),
    atRates({ services: 1000, pods: 20, ...spread }),
    // The only one whose Services share a namespace: what kube-controller-manager's list of the Pods of a namespace costs.
    atRates({ services: 1000, pods: 20, namespaces: 1 }),
    {
      name: 'rollout-1',
      description: 'a Deployment of 1,000 Pods is restarted',
      shape: large,
      phases: [rollingRestart(large, 50)],
    },
    {
      name: 'rollout-100',
      description: '100 Deployments of 10 Pods are restarted at once',
      shape: many,
      phases: [rollingRestart(many, 50)],
    },
    { name: 'node-down', description: 'a Node with 100 Pods goes down', shape: many, phases: [nodeDown(many)] },
    {
      name: 'custom',
      description: 'Endpoints that people write are mirrored',
      shape: custom,
      phases: rates.map((rate) => addressFlips(custom, rate, secondsOf(rate))),
    },
  ];
}
