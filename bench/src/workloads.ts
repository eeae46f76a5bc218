import { addressFlips } from './address-flips.ts';
import { flips, nodeDown, type Phase, rollingRestart } from './phase.ts';
import type { Shape } from './shape.ts';

/** A cluster and its phases after the cold start; each controller runs it on its own control plane. */
export interface Workload {
  readonly name: string;
  readonly description: string;
  readonly shape: Shape;
  readonly phases: readonly Phase[];
  /** Restart the controller at the end, with everything written. */
  readonly restart?: boolean;
}

/** The workloads of the long comparison, in order. */
export function allWorkloads(seconds: number): readonly Workload[] {
  const atRates = (shape: Shape, rates: readonly number[]): Workload => ({
    name: `${shape.services}x${shape.pods}`,
    description: `flips at ${rates.join(', ')}/s, then a restart with everything written`,
    shape,
    phases: rates.map((rate) => flips(rate, seconds)),
    restart: true,
  });
  const large = { services: 1, pods: 1000 };
  const many = { services: 100, pods: 10 };
  const custom = { services: 100, pods: 10, custom: true };
  return [
    atRates({ services: 100, pods: 20 }, [20, 100, 200]),
    atRates({ services: 500, pods: 5 }, [20, 100, 200]),
    atRates(large, [20, 100, 200]),
    atRates({ services: 1, pods: 5000 }, [20, 100]),
    atRates({ services: 1000, pods: 20 }, [20, 100]),
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
      phases: [addressFlips(custom, 20, seconds), addressFlips(custom, 100, seconds)],
    },
  ];
}
