import type { Topic } from '@sluice/bus';
import type { Clock, Logger, Random, TlsMaterial } from '@sluice/runtime';
import type { SASLOptions } from 'kafkajs';

/** How to reach the brokers. */
export interface KafkaConnection {
  /** `host:port` of some brokers; the others are found through them. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  /** TLS, with its certificates; without it the connection is plain. */
  readonly tls?: KafkaTls;
  readonly sasl?: KafkaSasl;
}

export interface KafkaTls extends TlsMaterial {
  /** The name in the brokers' certificates. Default: the host that each is called by. */
  readonly servername?: string;
}

export interface KafkaSasl {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  readonly username: string;
  readonly password: string;
}

/** What the topics are made with, and checked against. */
export interface KafkaTopics {
  /** First part of the topics' names: `<fleet>.changes`. */
  readonly fleet: string;
  /** Of `changes` and `mutations`; `requests` has one. */
  readonly partitions: number;
  readonly replicationFactor: number;
  /** In-sync replicas that an append needs. */
  readonly minInsyncReplicas: number;
  readonly retentionMs: Readonly<Record<Topic, number>>;
  /** Largest batch, in bytes, and so the largest record. */
  readonly maxMessageBytes: number;
}

export interface KafkaBusOptions extends KafkaConnection, KafkaTopics {
  /** For how long a start waits for Kafka. Default 30 000. */
  readonly connectWithinMs?: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

const day = 86_400_000;

/** Enough for production with three brokers. A reader that was away for longer than a retention starts anew. */
export const defaultKafkaTopics = {
  replicationFactor: 3,
  minInsyncReplicas: 2,
  retentionMs: { changes: day, mutations: day, requests: day },
  maxMessageBytes: 4 * 1024 * 1024,
} as const satisfies Partial<KafkaTopics>;

export const topics: readonly Topic[] = ['changes', 'mutations', 'requests'];

export function topicName({ fleet }: Pick<KafkaTopics, 'fleet'>, topic: Topic): string {
  return `${fleet}.${topic}`;
}

export function partitionsOf({ partitions }: Pick<KafkaTopics, 'partitions'>, topic: Topic): number {
  return topic === 'requests' ? 1 : partitions;
}

/** kafkajs wants one type per mechanism. */
export function saslOptions({ mechanism, username, password }: KafkaSasl): SASLOptions {
  return { mechanism, username, password } as SASLOptions;
}
