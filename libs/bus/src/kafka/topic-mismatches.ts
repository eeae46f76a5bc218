import { type KafkaTopics, partitionsOf, topicName, topics } from './options.ts';

/** A topic as the Kafka cluster describes it. */
export interface ExistingTopic {
  readonly name: string;
  readonly partitions: number;
  /** Lowest replication factor of its partitions. */
  readonly replicas: number;
  readonly settings: ReadonlyMap<string, string>;
}

export interface WantedTopic {
  readonly name: string;
  readonly partitions: number;
  readonly replicas: number;
  readonly settings: Readonly<Record<keyof typeof matches, string>>;
}

/** Smallest usable `max.message.bytes`. */
const minMessageBytes = 16 * 1024;

const isAtLeast = (value: string, wanted: string) => Number(value) >= Number(wanted);
const retainsAtLeast = (value: string, wanted: string) => Number(value) === -1 || isAtLeast(value, wanted);

/** Whether an existing setting satisfies the wanted one. Longer retention and larger limits do. */
const matches = {
  'cleanup.policy': (value: string, wanted: string) => value === wanted,
  'retention.ms': retainsAtLeast,
  'retention.bytes': retainsAtLeast,
  /** The size at which a segment is closed, so that it can be deleted. Any size works. */
  'segment.bytes': () => true,
  /** Sluice splits what exceeds a lower limit. */
  'max.message.bytes': (value: string, wanted: string) => Number(value) >= Math.min(Number(wanted), minMessageBytes),
  'min.insync.replicas': isAtLeast,
} as const;

/** Kafka deletes whole segments, so a partition exceeds its limit by up to a quarter. Kafka wants at least 1 MiB. */
const segmentBytes = (retentionBytes: number) => Math.max(1024 * 1024, Math.floor(retentionBytes / 4));

export function wantedTopics(options: KafkaTopics): readonly WantedTopic[] {
  return topics.map((topic) => ({
    name: topicName(options, topic),
    partitions: partitionsOf(options, topic),
    replicas: options.replicationFactor,
    settings: {
      'cleanup.policy': 'delete',
      'retention.ms': String(options.retentionMs[topic]),
      'retention.bytes': String(options.retentionBytes[topic]),
      'segment.bytes': String(segmentBytes(options.retentionBytes[topic])),
      'max.message.bytes': String(options.maxMessageBytes),
      'min.insync.replicas': String(options.minInsyncReplicas),
    },
  }));
}

/** The largest batch that all topics accept, in bytes; undefined if Kafka does not tell. */
export function reportedMessageBytes(existing: readonly ExistingTopic[]): number | undefined {
  const reported = existing.map(({ settings }) => Number(settings.get('max.message.bytes') ?? Number.NaN));
  const smallest = Math.min(...reported);
  return Number.isFinite(smallest) ? smallest : undefined;
}

/** One line per mismatch, with topic, setting, existing value and wanted value. */
export function topicMismatches(wanted: WantedTopic, existing: ExistingTopic): readonly string[] {
  const mismatches: string[] = [];
  const report = (setting: string, value: number | string, want: number | string) =>
    mismatches.push(`topic ${wanted.name}: ${setting} is ${value}, want ${want}`);
  if (existing.partitions !== wanted.partitions) report('partitions', existing.partitions, wanted.partitions);
  if (existing.replicas < wanted.replicas) report('replication factor', existing.replicas, wanted.replicas);
  for (const [setting, want] of Object.entries(wanted.settings)) {
    const value = existing.settings.get(setting) ?? 'unknown';
    const satisfies = matches[setting as keyof typeof matches];
    if (satisfies(value, want)) continue;
    const least = setting === 'max.message.bytes' ? Math.min(Number(want), minMessageBytes) : want;
    report(setting, value, setting === 'cleanup.policy' ? want : `at least ${least}`);
  }
  return mismatches;
}
