import { type KafkaTopics, partitionsOf, topicName, topics } from './options.ts';

/** A topic as the cluster describes it. */
export interface FoundTopic {
  readonly name: string;
  readonly partitions: number;
  /** The lowest among its partitions. */
  readonly replicas: number;
  readonly settings: ReadonlyMap<string, string>;
}

export interface WantedTopic {
  readonly name: string;
  readonly partitions: number;
  readonly replicas: number;
  readonly settings: Readonly<Record<keyof typeof fits, string>>;
}

/** How a setting that we want fits what is there: what keeps more, or takes more, does too. */
const fits = {
  'cleanup.policy': (there: string, wanted: string) => there === wanted,
  'retention.ms': (there: string, wanted: string) => Number(there) === -1 || Number(there) >= Number(wanted),
  'max.message.bytes': (there: string, wanted: string) => Number(there) >= Number(wanted),
  'min.insync.replicas': (there: string, wanted: string) => Number(there) >= Number(wanted),
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

/** One line for each thing that does not fit: topic, setting, what is there, what is wanted. */
export function misfits(wanted: WantedTopic, there: FoundTopic): readonly string[] {
  const wrong: string[] = [];
  const complain = (setting: string, found: number | string, want: number | string) =>
    wrong.push(`topic ${wanted.name}: ${setting} is ${found}, wanted is ${want}`);
  if (there.partitions !== wanted.partitions) complain('partitions', there.partitions, wanted.partitions);
  if (there.replicas < wanted.replicas) complain('replication factor', there.replicas, wanted.replicas);
  for (const [setting, want] of Object.entries(wanted.settings)) {
    const found = there.settings.get(setting) ?? 'not known';
    const fit = fits[setting as keyof typeof fits];
    if (!fit(found, want)) complain(setting, found, setting === 'cleanup.policy' ? want : `at least ${want}`);
  }
  return wrong;
}
