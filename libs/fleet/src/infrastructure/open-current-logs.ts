import { type Bus, isBusSetupError } from '@sluice/bus';
import type { Logger } from '@sluice/platform';
import type { StoredDocument } from '@sluice/store';
import { readGenerations } from '../roles/fleet-generation.ts';
import { formatGenerations, type PartitionGenerations } from '../roles/generations.ts';

interface OpenLogs {
  /** Opens the logs of a new fleet with the configured number of partitions; creates none before `expected` resolves. */
  readonly first: (expected: Promise<void>) => Promise<Bus>;
  /** Opens the logs of a generation. */
  readonly other: (generation: number, partitions: number) => Promise<Bus>;
}

interface CurrentLogs {
  readonly bus: Bus;
  readonly generations: PartitionGenerations;
}

/** What the store has, once it is connected. */
export interface KnownGenerations {
  readonly generations: PartitionGenerations;
  readonly document: StoredDocument;
}

/** The fleet works in other logs than those of a new fleet with the configured number of partitions. */
class OtherLogsError extends Error {
  override readonly name = 'OtherLogsError';
}

/** Opens the logs that a fleet has in most cases while its generations are read, and others if it has those. */
export async function openCurrentLogs(
  known: Promise<KnownGenerations>,
  configured: number,
  open: OpenLogs,
  logger: Logger,
): Promise<CurrentLogs> {
  const expected = known.then(({ generations }) => {
    if (generations.length > 1 || generations[0].partitions !== configured) throw new OtherLogsError();
  });
  expected.catch(() => {});
  try {
    return { bus: await open.first(expected), generations: (await known).generations };
  } catch (error) {
    if (!(error instanceof OtherLogsError) && !hasOtherPartitions(error)) throw error;
  }
  const { document } = await known;
  let { generations } = await known;
  for (;;) {
    const number = generations.length - 1;
    const { partitions } = generations[number] ?? generations[0];
    try {
      return { bus: await open.other(number, partitions), generations };
    } catch (error) {
      if (!hasOtherPartitions(error) || wasRepartitioned(generations)) throw error;
      // The store lost the list of a fleet that was repartitioned. Its logs are those of a later generation.
      const next: PartitionGenerations = [...generations, { partitions, since: 0 }];
      if (await document.replace(formatGenerations(generations), formatGenerations(next))) {
        logger.warn('partition count of the logs differs from the store; looking for the logs of a later change', {
          partitions,
          generation: number + 1,
        });
      }
      generations = await readGenerations(document, configured);
    }
  }
}

const wasRepartitioned = (generations: PartitionGenerations): boolean => generations.some(({ since }) => since > 0);

function hasOtherPartitions(error: unknown): boolean {
  return isBusSetupError(error) && error.code === 'BUS_OTHER_PARTITIONS';
}
