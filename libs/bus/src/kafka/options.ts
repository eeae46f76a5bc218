import type { Clock, Logger, Random, TlsMaterial } from '@sluice/platform';
import type { SASLOptions } from 'kafkajs';
import { BusSetupError as SetupError, type Topic } from '../index.ts';

/** How to reach the brokers. */
export interface KafkaConnection {
  /** Bootstrap addresses as `host:port`. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  /** Undefined: no TLS. */
  readonly tls?: KafkaTls;
  readonly sasl?: KafkaSasl;
  /** Returns the secrets for a new connection, which may have been rotated. Default: `tls` and `sasl`. */
  readonly secrets?: (() => KafkaSecrets) | undefined;
}

/** What a connection authenticates with. */
type KafkaSecrets = Pick<KafkaConnection, 'tls' | 'sasl'>;

interface KafkaTls extends TlsMaterial {
  /** Expected name in the brokers' certificates. Default: the host of each address. */
  readonly servername?: string;
}

interface KafkaSasl {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  readonly username: string;
  readonly password: string;
}

/** Settings with which topics are created, and against which existing ones are checked. */
export interface KafkaTopics {
  /** Prefix of the topic names: `<fleet>.changes`. */
  readonly fleet: string;
  /** Partitions of `changes` and `mutations`. `requests` has one. */
  readonly partitions: number;
  readonly replicationFactor: number;
  /** In-sync replicas required for an append. */
  readonly minInsyncReplicas: number;
  readonly retentionMs: Readonly<Record<Topic, number>>;
  /** Size limit of each partition, in bytes; the oldest segments are deleted. */
  readonly retentionBytes: Readonly<Record<Topic, number>>;
  /**
   * Size limit of a batch and so of a record, in bytes. If an existing topic has a lower one, Sluice keeps to that.
   */
  readonly maxMessageBytes: number;
}

export interface KafkaBusOptions extends KafkaConnection, KafkaTopics {
  /** How long `connectKafkaBus` waits for Kafka. Default 30 000. */
  readonly connectWithinMs?: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

const day = 86_400_000;
const mebibyte = 1024 * 1024;

/** For production with three brokers. A reader that is away for longer than the retention finds its log truncated. */
export const defaultKafkaTopics = {
  replicationFactor: 3,
  minInsyncReplicas: 2,
  retentionMs: { changes: day, mutations: day, requests: day },
  retentionBytes: { changes: 64 * mebibyte, mutations: 64 * mebibyte, requests: 16 * mebibyte },
  maxMessageBytes: 4 * mebibyte,
} as const satisfies Partial<KafkaTopics>;

export const topics: readonly Topic[] = ['changes', 'mutations', 'requests'];

export function topicName({ fleet }: Pick<KafkaTopics, 'fleet'>, topic: Topic): string {
  return `${fleet}.${topic}`;
}

export function partitionsOf({ partitions }: Pick<KafkaTopics, 'partitions'>, topic: Topic): number {
  return topic === 'requests' ? 1 : partitions;
}

/** kafkajs has one type per mechanism. */
export function saslOptions({ mechanism, username, password }: KafkaSasl): SASLOptions {
  return { mechanism, username, password } as SASLOptions;
}

/** Retrying helps only with `BUS_UNREACHABLE` and `BUS_TOO_FEW_BROKERS`. */
export class BusSetupError extends SetupError<BusSetupCode> {}

export type BusSetupCode =
  /** Fewer brokers than the replication factor. May pass while brokers start. */
  | 'BUS_TOO_FEW_BROKERS'
  | 'BUS_OPTIONS'
  | 'BUS_UNREACHABLE'
  | 'BUS_CREDENTIALS'
  /** One side does not trust the other's certificate, or does not speak TLS. */
  | 'BUS_TLS'
  /** A topic exists with other settings than configured. */
  | 'BUS_TOPIC_MISMATCH'
  /** The partition count of the topics differs. */
  | 'BUS_OTHER_PARTITIONS'
  /** Kafka refuses to create a topic or to show it. */
  | 'BUS_TOPIC_REFUSED';
