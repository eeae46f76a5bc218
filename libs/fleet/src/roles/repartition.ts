import { type Bus, isBusSetupError } from '@sluice/bus';
import type { Clock } from '@sluice/platform';
import { UsageError } from '@sluice/platform/process';
import type { StoredDocument } from '@sluice/store';
import type { FleetGeneration } from './fleet-generation.ts';
import { formatGenerations, type PartitionGenerations } from './generations.ts';

interface RepartitionPorts {
  readonly generation: Pick<FleetGeneration, 'all' | 'partitions'>;
  /** The generations of the fleet. */
  readonly document: StoredDocument;
  /** The generation whose logs are being created. */
  readonly intended: StoredDocument;
  /** Opens the logs of a generation, and creates those that are missing. */
  readonly openLogs: (generation: number, partitions: number) => Promise<Bus>;
  readonly clock: Pick<Clock, 'now'>;
}

/** An intent to begin a generation. No two intents with different partitions have the same number, so they share no logs. */
interface Intent {
  readonly number: number;
  readonly partitions: number;
}

/**
 * Begins a generation with `partitions`. An intent is stored before its logs are created: a later call with the same partitions
 * completes it, and one with others takes the next number. Returns all generations, as they would be in a dry run.
 *
 * @throws UsageError if the fleet has these partitions already, or another generation began meanwhile
 */
export async function repartition(
  ports: RepartitionPorts,
  partitions: number,
  { dryRun = false } = {},
): Promise<PartitionGenerations> {
  const { generation, document, intended, openLogs, clock } = ports;
  const { all } = generation;
  if (generation.partitions === partitions) throw new UsageError(`this fleet has ${partitions} partitions already`);
  for (let first = all.length; ; ) {
    const stored = await intended.read();
    const intent = { number: numberFor(parseIntent(stored), first, partitions), partitions };
    const next = withGeneration(all, intent, clock.now());
    if (dryRun) return next;
    if (!(await intended.replace(stored, JSON.stringify(intent)))) continue;
    let bus: Bus;
    try {
      // A bus without room for the logs, or a user without the right to create them, refuses before the fleet changes.
      bus = await openLogs(intent.number, partitions);
    } catch (error) {
      if (!isBusSetupError(error) || error.code !== 'BUS_OTHER_PARTITIONS') throw error;
      // The store has lost the intent for which somebody created these logs.
      first = intent.number + 1;
      continue;
    }
    try {
      await bus.end('requests', 0);
      if (await document.replace(formatGenerations(all), formatGenerations(next))) return next;
    } finally {
      await bus.close();
    }
    throw new UsageError('the partitions of this fleet were changed at the same time; see "sluice partitions list"');
  }
}

function numberFor(intent: Intent | undefined, first: number, partitions: number): number {
  if (intent === undefined || intent.number < first) return first;
  return intent.partitions === partitions ? intent.number : intent.number + 1;
}

/** A generation abandoned while its logs were created begins and ends with the next one. */
function withGeneration(
  all: PartitionGenerations,
  { number, partitions }: Intent,
  since: number,
): PartitionGenerations {
  const begun = Array.from({ length: number + 1 - all.length }, () => ({ partitions, since }));
  return [...all, ...begun];
}

const intentPattern = /^\{"number":(\d{1,4}),"partitions":(\d{1,9})\}$/;

/** Text that cannot be read is no intent that anybody could complete. */
function parseIntent(text: string | null): Intent | undefined {
  const [, number, partitions] = intentPattern.exec(text ?? '') ?? [];
  if (number === undefined || partitions === undefined) return undefined;
  return { number: Number(number), partitions: Number(partitions) };
}
