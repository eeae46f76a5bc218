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

/** Whether an existing setting satisfies the wanted one. Longer retention and larger limits do. */
const matches = {
  'cleanup.policy': (value: string, wanted: string) => value === wanted,
  'retention.ms': (value: string, wanted: string) => Number(value) === -1 || Number(value) >= Number(wanted),
  'max.message.bytes': (value: string, wanted: string) => Number(value) >= Number(wanted),
  'min.insync.replicas': (value: string, wanted: string) => Number(value) >= Number(wanted),
} as const;

export function wantedTopics(options: KafkaTopics): readonly WantedTopic[] {
  return topics.map((topic) => ({
    name: topicName(options, topic),
    partitions: partitionsOf(options, topic),
    replicas: options.replicationFactor,
    settings: {
      'cleanup.policy': 'delete',
      'retention.ms': String(options.retentionMs[topic]),
      'max.message.bytes': String(options.maxMessageBytes),
      'min.insync.replicas': String(options.minInsyncReplicas),
    },
  }));
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
    if (!satisfies(value, want)) report(setting, value, setting === 'cleanup.policy' ? want : `at least ${want}`);
  }
  return mismatches;
}
