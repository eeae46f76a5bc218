import { connectKafkaBus, defaultKafkaTopics } from '@sluice/bus/kafka';
import { silentLogger } from '@sluice/platform';
import { systemClock, systemRandom } from '@sluice/platform/process';
import type { Fleet } from '../fleet/start-fleet.ts';
import { followBusPlans } from './bus-plans.ts';
import { followNatsPlans } from './nats-plans.ts';
import type { OnPlan, PlanObserver } from './plan-observer.ts';

/** Observes all plans of the fleet from now on. Call it before a role starts. */
export async function observePlans({ name, partitions, bus }: Fleet, onPlan: OnPlan): Promise<PlanObserver> {
  if (bus.kind === 'nats') return followNatsPlans({ urls: bus.addresses, fleet: name, partitions, onPlan });
  const observed = await connectKafkaBus({
    ...defaultKafkaTopics,
    ...bus.topics,
    brokers: bus.addresses,
    clientId: 'chaos-observer',
    fleet: name,
    partitions,
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
  });
  return followBusPlans(observed, onPlan);
}
