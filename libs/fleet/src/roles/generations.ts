import { UsageError } from '@sluice/platform/process';

/** The partitions of a fleet from one change of their number to the next. Its number is its index in the list of all. */
interface PartitionGeneration {
  readonly partitions: number;
  /** When it began, in milliseconds since the Unix epoch; 0 for the first. */
  readonly since: number;
}

/** All generations of a fleet, oldest first. The last one is current. */
export type PartitionGenerations = readonly [PartitionGeneration, ...PartitionGeneration[]];

/** A fleet that was never repartitioned stores only its number of partitions. */
export function formatGenerations(generations: PartitionGenerations): string {
  const [first] = generations;
  return generations.length === 1 ? String(first.partitions) : JSON.stringify(generations);
}

/** @throws UsageError if another version has stored something else */
export function parseGenerations(text: string): PartitionGenerations {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw unreadable(text);
  }
  if (isCount(parsed)) return [{ partitions: parsed, since: 0 }];
  if (!Array.isArray(parsed) || !parsed.every(isGeneration)) throw unreadable(text);
  const [first, ...others] = parsed;
  if (first === undefined) throw unreadable(text);
  return [first, ...others];
}

/** Name of the fleet in the logs of a generation; each generation has its own logs. */
export const logsOf = (fleet: string, generation: number): string =>
  generation === 0 ? fleet : `${fleet}-g${generation}`;

/** Name of a scope or group in the store: `reconciler/5` becomes `reconciler/g1/5`. */
export function storedName(name: string, generation: number): string {
  if (generation === 0) return name;
  const [role, ...rest] = name.split('/');
  return [role, `g${generation}`, ...rest].join('/');
}

const isCount = (value: unknown): value is number => Number.isInteger(value) && Number(value) > 0;

const isGeneration = (value: unknown): value is PartitionGeneration =>
  typeof value === 'object' &&
  value !== null &&
  'partitions' in value &&
  isCount(value.partitions) &&
  'since' in value &&
  typeof value.since === 'number';

function unreadable(text: string): UsageError {
  return new UsageError(
    `cannot read the partitions of this fleet in the store: ${text.slice(0, 80)}; use the version of Sluice that stored them, or another --fleet`,
  );
}
