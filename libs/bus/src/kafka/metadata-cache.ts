import type { Brokers } from './brokers.ts';
import type { TopicMetadata } from './metadata-request.ts';
import { errorCode } from './protocol.ts';

export interface PartitionLeader {
  /** A topic that is deleted and created again under the same name has another id. */
  readonly topicId: string;
  /** Node id of the partition's leader. */
  readonly nodeId: number;
}

/** Caches the ids of the topics and the leaders of their partitions. Callers refresh it when a request fails. */
export class MetadataCache {
  readonly #brokers: Brokers;
  readonly #names: readonly string[];
  readonly #createMissingTopics: () => Promise<void>;
  #topics = new Map<string, TopicMetadata>();
  #refreshing: Promise<void> | undefined;

  constructor(brokers: Brokers, names: readonly string[], createMissingTopics: () => Promise<void>) {
    this.#brokers = brokers;
    this.#names = names;
    this.#createMissingTopics = createMissingTopics;
  }

  /** Undefined while the partition has no leader. */
  leaderOf(topic: string, partition: number): PartitionLeader | undefined {
    const metadata = this.#topics.get(topic);
    const nodeId = metadata?.partitions.find((each) => each.partition === partition)?.leader ?? -1;
    return metadata === undefined || nodeId < 0 ? undefined : { topicId: metadata.id, nodeId };
  }

  /** Rejects while no broker answers. Concurrent callers share one refresh. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #refresh(): Promise<void> {
    let topics = await this.#brokers.metadata(this.#names);
    if (topics.some((topic) => topic.errorCode === errorCode.unknownTopicOrPartition)) {
      await this.#createMissingTopics();
      topics = await this.#brokers.metadata(this.#names);
    }
    const found = topics.filter((topic) => topic.errorCode === errorCode.none);
    this.#topics = new Map(found.map((topic) => [topic.name, topic]));
  }
}
