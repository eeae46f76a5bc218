import type { StreamConfig } from '@nats-io/jetstream';
import type { Topic } from '../index.ts';
import type { Settings } from './options.ts';

/** A partition of a topic. It has one stream with one subject. */
export interface LogName {
  readonly topic: Topic;
  readonly partition: number;
}

/** All logs of a fleet. `requests` has only partition 0. */
export function logNames(partitions: number): readonly LogName[] {
  const all = Array.from({ length: partitions }, (_, partition) => partition);
  const logs = (['changes', 'mutations'] as const).flatMap((topic) => all.map((partition) => ({ topic, partition })));
  return [...logs, { topic: 'requests', partition: 0 }];
}

export function streamName(fleet: string, { topic, partition }: LogName): string {
  return `${fleet}-${topic}-${partition}`;
}

export function subjectName(fleet: string, { topic, partition }: LogName): string {
  return `${fleet}.${topic}.${partition}`;
}

type Wanted = Partial<StreamConfig> & Pick<StreamConfig, 'name'>;

/** Metadata key for the fleet's number of partitions. Another number would map keys to other partitions. */
const partitionsKey = 'sluice-partitions';

const nanoseconds = 1_000_000;

/** The configuration with which Sluice creates a stream. */
export function streamConfig(settings: Settings, log: LogName): Wanted {
  return {
    name: streamName(settings.fleet, log),
    subjects: [subjectName(settings.fleet, log)],
    retention: 'limits',
    storage: 'file',
    discard: 'old',
    num_replicas: settings.replicas,
    max_age: settings.maxAgeMs[log.topic] * nanoseconds,
    max_bytes: settings.maxBytes[log.topic],
    duplicate_window: settings.duplicateWindowMs * nanoseconds,
    allow_batched: true,
    metadata: { [partitionsKey]: String(settings.partitions) },
  };
}

/** Settings that must equal those of `streamConfig`. */
const limits: readonly (keyof StreamConfig)[] = [
  'retention',
  'storage',
  'discard',
  'num_replicas',
  'max_age',
  'max_bytes',
  'duplicate_window',
  'allow_batched',
];
/** Settings that must be -1 (no limit), which the server sets if the request omits them. */
const unlimited: readonly (keyof StreamConfig)[] = ['max_msgs', 'max_msgs_per_subject', 'max_msg_size'];
const unset: readonly (keyof StreamConfig)[] = [
  'mirror',
  'sources',
  'subject_transform',
  'republish',
  'sealed',
  'no_ack',
];

/** One line per setting of an existing stream that differs from the wanted one. */
export function streamMismatches(wanted: Wanted, existing: StreamConfig): readonly string[] {
  const lines: string[] = [];
  const compare = (setting: string, value: unknown, want: unknown) => {
    if (JSON.stringify(value) !== JSON.stringify(want))
      lines.push(`${setting} is ${format(value)}, want ${format(want)}`);
  };
  compare('subjects', existing.subjects, wanted.subjects);
  for (const setting of limits) compare(setting, existing[setting], wanted[setting]);
  for (const setting of unlimited) compare(setting, existing[setting] ?? -1, -1);
  for (const setting of unset) {
    const value = existing[setting];
    if (value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0)) {
      lines.push(`${setting} is ${format(value)}, want none`);
    }
  }
  compare(`metadata ${partitionsKey}`, existing.metadata?.[partitionsKey], wanted.metadata?.[partitionsKey]);
  return lines;
}

/** Whether an existing stream belongs to a fleet with a different partition count. */
export function hasOtherPartitions(wanted: Wanted, existing: Pick<StreamConfig, 'metadata'>): boolean {
  const partitions = existing.metadata?.[partitionsKey];
  return partitions !== undefined && partitions !== wanted.metadata?.[partitionsKey];
}

function format(value: unknown): string {
  return value === undefined ? 'not set' : JSON.stringify(value);
}
