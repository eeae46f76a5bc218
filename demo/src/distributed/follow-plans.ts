import { type Bus, isLogTruncatedError, type PartitionReader, readUntilAborted, type Topic } from '@sluice/bus';
import { decodeMessage, type Message, type Outcome, type PlannedMutations } from '@sluice/messages';

const recordsPerRead = 256;
/** Maximum number of plans that wait for their Outcome; the oldest are dropped. */
const maxPlans = 10_000;

/** Reads plans and Outcomes from the ends of the topics on, and calls `onOutcome` for each Outcome with its plan. */
export async function followPlans(
  bus: Bus,
  onOutcome: (plan: PlannedMutations, outcome: Outcome) => void,
  signal: AbortSignal,
): Promise<void> {
  const plans = new Map<string, PlannedMutations>();
  const observe = (message: Message) => {
    if (message.kind === 'mutations') {
      plans.set(nameOf(message), message);
      const [oldest] = plans.keys();
      if (plans.size > maxPlans && oldest !== undefined) plans.delete(oldest);
    } else if (message.kind === 'outcome') {
      const plan = plans.get(nameOf(message));
      plans.delete(nameOf(message));
      if (plan !== undefined) onOutcome(plan, message);
    }
  };
  const partitions = Array.from({ length: bus.partitions }, (_, partition) => partition);
  const topics: readonly Topic[] = ['mutations', 'changes'];
  await Promise.all(
    topics.flatMap((topic) => partitions.map((partition) => follow(bus, topic, partition, observe, signal))),
  );
}

const nameOf = ({ key, controller, plan }: Pick<PlannedMutations, 'key' | 'controller' | 'plan'>): string =>
  [key.cluster, key.namespace, key.service, controller, plan.epoch, plan.number].join('/');

async function follow(
  bus: Bus,
  topic: Topic,
  partition: number,
  observe: (message: Message) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const reader = bus.read(topic, partition, await bus.end(topic, partition));
      return await readUntilAborted(reader, signal, (reader) => readAll(reader, observe));
    } catch (error) {
      if (!isLogTruncatedError(error)) throw error;
    }
  }
}

async function readAll(reader: PartitionReader, observe: (message: Message) => void): Promise<void> {
  for (;;) {
    const records = await reader.next(recordsPerRead);
    if (records.length === 0) return;
    for (const { payload } of records) {
      try {
        observe(decodeMessage(payload));
      } catch {
        // The role that processes the record dead-letters and logs it.
      }
    }
  }
}
