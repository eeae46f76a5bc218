import { type Bus, isLogTruncatedError, type PartitionReader, readUntilAborted, type Topic } from '@sluice/bus';
import { decodeMessage, type Message, type Outcome, type PlannedMutations } from '@sluice/messages';

const recordsRead = 256;
/** Plans whose Outcome is awaited; the oldest are forgotten when there are more. */
const plansRemembered = 10_000;

/** Reads plans and Outcomes along with the fleet, from now on, and tells of each plan with what became of it. */
export async function followPlans(
  bus: Bus,
  onOutcome: (plan: PlannedMutations, outcome: Outcome) => void,
  signal: AbortSignal,
): Promise<void> {
  const plans = new Map<string, PlannedMutations>();
  const see = (message: Message) => {
    if (message.kind === 'mutations') {
      plans.set(nameOf(message), message);
      const [oldest] = plans.keys();
      if (plans.size > plansRemembered && oldest !== undefined) plans.delete(oldest);
    } else if (message.kind === 'outcome') {
      const plan = plans.get(nameOf(message));
      plans.delete(nameOf(message));
      if (plan !== undefined) onOutcome(plan, message);
    }
  };
  const partitions = Array.from({ length: bus.partitions }, (_, partition) => partition);
  const topics: readonly Topic[] = ['mutations', 'changes'];
  await Promise.all(
    topics.flatMap((topic) => partitions.map((partition) => follow(bus, topic, partition, see, signal))),
  );
}

const nameOf = ({ key, controller, plan }: Pick<PlannedMutations, 'key' | 'controller' | 'plan'>): string =>
  [key.cluster, key.namespace, key.service, controller, plan.epoch, plan.number].join('/');

async function follow(
  bus: Bus,
  topic: Topic,
  partition: number,
  see: (message: Message) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const reader = bus.read(topic, partition, await bus.end(topic, partition));
      return await readUntilAborted(reader, signal, (reader) => readAll(reader, see));
    } catch (error) {
      if (!isLogTruncatedError(error)) throw error;
    }
  }
}

async function readAll(reader: PartitionReader, see: (message: Message) => void): Promise<void> {
  for (;;) {
    const records = await reader.next(recordsRead);
    if (records.length === 0) return;
    for (const { payload } of records) {
      try {
        see(decodeMessage(payload));
      } catch {
        // Whoever works on it sets it aside and says so.
      }
    }
  }
}
