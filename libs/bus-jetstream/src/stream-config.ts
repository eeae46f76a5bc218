import type { StreamConfig } from '@nats-io/jetstream';
import type { Topic } from '@sluice/bus';
import type { Settings } from './options.ts';

/** A log of the bus: one stream with one subject. */
export interface LogName {
  readonly topic: Topic;
  readonly partition: number;
}

/** All logs of a fleet. All `requests` are in partition 0. */
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

/** Says of a stream how many partitions its fleet has: a change would send keys elsewhere. */
export const partitionsKey = 'sluice-partitions';

const nanoseconds = 1_000_000;

/** The stream of a log as Sluice makes it. */
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
    allow_atomic: true,
    metadata: { [partitionsKey]: String(settings.partitions) },
  };
}

/** Settings that must be as Sluice makes them. The server fills those in that are not in the request: -1 is no limit. */
const limits: readonly (keyof StreamConfig)[] = [
  'retention',
  'storage',
  'discard',
  'num_replicas',
  'max_age',
  'max_bytes',
  'duplicate_window',
  'allow_atomic',
];
const unlimited: readonly (keyof StreamConfig)[] = ['max_msgs', 'max_msgs_per_subject', 'max_msg_size'];
const absent: readonly (keyof StreamConfig)[] = ['mirror', 'sources', 'subject_transform', 'sealed', 'no_ack'];

/** How a stream that is there differs from the wanted one: a line for each setting, empty when it fits. */
export function misfits(wanted: Wanted, found: StreamConfig): readonly string[] {
  const lines: string[] = [];
  const compare = (setting: string, is: unknown, should: unknown) => {
    if (JSON.stringify(is) !== JSON.stringify(should))
      lines.push(`${setting} is ${show(is)}, wanted is ${show(should)}`);
  };
  compare('subjects', found.subjects, wanted.subjects);
  for (const setting of limits) compare(setting, found[setting], wanted[setting]);
  for (const setting of unlimited) compare(setting, found[setting] ?? -1, -1);
  for (const setting of absent) {
    const value = found[setting];
    if (value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0)) {
      lines.push(`${setting} is ${show(value)}, wanted is none`);
    }
  }
  compare(`metadata ${partitionsKey}`, found.metadata?.[partitionsKey], wanted.metadata?.[partitionsKey]);
  return lines;
}

function show(value: unknown): string {
  return value === undefined ? 'not set' : JSON.stringify(value);
}
