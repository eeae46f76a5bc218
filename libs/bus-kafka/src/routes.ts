import type { Brokers } from './brokers.ts';
import type { TopicMetadata } from './metadata-request.ts';
import { errorCode } from './protocol.ts';

export interface Route {
  /** Names the topic for good: one made anew under the same name has another. */
  readonly topicId: string;
  /** Node id of the broker that serves the partition. */
  readonly leader: number;
}

/** Where each partition is served, as far as we know. Whoever finds it wrong asks for a refresh. */
export class Routes {
  readonly #brokers: Brokers;
  readonly #names: readonly string[];
  readonly #make: () => Promise<void>;
  #topics = new Map<string, TopicMetadata>();
  #refreshing: Promise<void> | undefined;

  /** `make` makes the topics that are missing. */
  constructor(brokers: Brokers, names: readonly string[], make: () => Promise<void>) {
    this.#brokers = brokers;
    this.#names = names;
    this.#make = make;
  }

  /** Undefined while nobody serves the partition. */
  of(topic: string, partition: number): Route | undefined {
    const metadata = this.#topics.get(topic);
    const leader = metadata?.partitions.find((each) => each.partition === partition)?.leader ?? -1;
    return metadata === undefined || leader < 0 ? undefined : { topicId: metadata.id, leader };
  }

  /** Rejects while no broker answers. Those who ask at the same time share one refresh. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #refresh(): Promise<void> {
    let topics = await this.#brokers.metadata(this.#names);
    if (topics.some((topic) => topic.errorCode === errorCode.unknownTopicOrPartition)) {
      await this.#make();
      topics = await this.#brokers.metadata(this.#names);
    }
    const found = topics.filter((topic) => topic.errorCode === errorCode.none);
    this.#topics = new Map(found.map((topic) => [topic.name, topic]));
  }
}
