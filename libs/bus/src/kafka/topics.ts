import { type Logger, tlsProblem } from '@sluice/platform';
import type { Admin } from 'kafkajs';
import kafkajs from 'kafkajs';
import type { Brokers } from './brokers.ts';
import { kafkajsLogger } from './kafkajs-logger.ts';
import {
  type BusSetupCode,
  BusSetupError,
  type KafkaBusOptions,
  type KafkaConnection,
  saslOptions,
} from './options.ts';
import { errorCode } from './protocol.ts';
import {
  type ExistingTopic,
  reportedMessageBytes,
  topicMismatches,
  type WantedTopic,
  wantedTopics,
} from './topic-mismatches.ts';

/**
 * Creates missing topics and checks existing ones. Never alters a topic. Returns the size limit of a batch in bytes: the
 * lowest `max.message.bytes` of the topics, at most the configured one.
 *
 * @throws BusSetupError if a topic does not match the configuration, or Kafka refuses to create or describe it
 */
export async function ensureTopics(options: KafkaBusOptions, brokers: Pick<Brokers, 'metadata'>): Promise<number> {
  const wanted = wantedTopics(options);
  return await withAdmin(options, options.logger, async (admin) => {
    // admin.listTopics() fails while any topic of the cluster has a partition without a leader.
    const metadata = await brokers.metadata(wanted.map(({ name }) => name));
    const unknown = metadata.filter((topic) => topic.errorCode === errorCode.unknownTopicOrPartition);
    const missing = wanted.filter(({ name }) => unknown.some((topic) => topic.name === name));
    if (missing.length > 0) {
      await create(admin, missing);
      options.logger.info('created Kafka topics', { topics: missing.map(({ name }) => name) });
    }
    const existing = await describe(admin, wanted);
    const mismatches = wanted.flatMap((topic) => {
      const match = existing.find(({ name }) => name === topic.name);
      return match === undefined ? [] : topicMismatches(topic, match);
    });
    if (mismatches.length > 0) {
      const advice = 'Alter the topic or the configuration; Sluice does not alter existing topics.';
      const repartitioned = wanted.filter(({ name, partitions }) =>
        existing.some((topic) => topic.name === name && topic.partitions !== partitions),
      );
      // With other mismatches too, the configuration is wrong in any case.
      const code = repartitioned.length === mismatches.length ? 'BUS_OTHER_PARTITIONS' : 'BUS_TOPIC_MISMATCH';
      throw new BusSetupError(code, `${mismatches.join('; ')}. ${advice}`);
    }
    return Math.min(options.maxMessageBytes, reportedMessageBytes(existing) ?? options.maxMessageBytes);
  });
}

async function create(admin: Admin, missing: readonly WantedTopic[]): Promise<void> {
  await admin.createTopics({
    topics: missing.map(({ name, partitions, replicas, settings }) => ({
      topic: name,
      numPartitions: partitions,
      replicationFactor: replicas,
      configEntries: Object.entries(settings).map(([setting, value]) => ({ name: setting, value })),
    })),
  });
}

async function describe(admin: Admin, wanted: readonly WantedTopic[]): Promise<readonly ExistingTopic[]> {
  const names = wanted.map(({ name }) => name);
  const { topics } = await admin.fetchTopicMetadata({ topics: names });
  const resources = names.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name }));
  const described = await admin.describeConfigs({ resources, includeSynonyms: false });
  return topics.map(({ name, partitions }) => {
    const entries = described.resources.find(({ resourceName }) => resourceName === name)?.configEntries ?? [];
    return {
      name,
      partitions: partitions.length,
      replicas: Math.min(...partitions.map(({ replicas }) => replicas.length)),
      settings: new Map(entries.map(({ configName, configValue }) => [configName, configValue])),
    };
  });
}

async function withAdmin<T>(options: KafkaConnection, logger: Logger, use: (admin: Admin) => Promise<T>): Promise<T> {
  const { brokers, clientId, secrets = () => options } = options;
  const { tls, sasl } = secrets();
  const kafka = new kafkajs.Kafka({
    ...kafkajsLogger(logger),
    brokers: [...brokers],
    clientId,
    ...(tls === undefined ? {} : { ssl: tls }),
    ...(sasl === undefined ? {} : { sasl: saslOptions(sasl) }),
    connectionTimeout: 3_000,
    requestTimeout: 10_000,
    retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 4 },
  });
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await use(admin);
  } catch (error) {
    throw explain(error);
  } finally {
    await admin.disconnect();
  }
}

/** Turns errors that need an operator into BusSetupError. kafkajs wraps the errors of the broker. */
function explain(error: unknown): unknown {
  const problem = tlsProblem(error);
  if (problem !== undefined) return new BusSetupError('BUS_TLS', `TLS connection to Kafka failed: ${problem}`, error);
  for (const each of causes(error)) {
    const type = 'type' in each ? String(each.type) : each.name;
    const known = permanentErrors[type];
    if (known !== undefined) return new BusSetupError(known.code, `${known.advice}: ${each.message}`, error);
  }
  return error;
}

const badCredentials = { code: 'BUS_CREDENTIALS', advice: 'Kafka rejects the user name or password' } as const;
const refused = (advice: string) => ({ code: 'BUS_TOPIC_REFUSED', advice }) as const;

const permanentErrors: Readonly<Record<string, { readonly code: BusSetupCode; readonly advice: string }>> = {
  KafkaJSSASLAuthenticationError: badCredentials,
  SASL_AUTHENTICATION_FAILED: badCredentials,
  UNSUPPORTED_SASL_MECHANISM: { code: 'BUS_CREDENTIALS', advice: 'Kafka does not support this SASL mechanism' },
  TOPIC_AUTHORIZATION_FAILED: refused(
    'not authorized to create or describe the topics; grant the ACL operations Create, Describe and DescribeConfigs',
  ),
  CLUSTER_AUTHORIZATION_FAILED: refused('not authorized to create the topics; grant the ACL operation Create'),
  INVALID_REPLICATION_FACTOR: {
    code: 'BUS_TOO_FEW_BROKERS',
    advice: 'fewer Kafka brokers than the replication factor',
  },
  INVALID_TOPIC_EXCEPTION: refused('the fleet name is not a valid topic name prefix'),
  INVALID_CONFIG: refused('Kafka rejects the topic settings'),
  POLICY_VIOLATION: refused('a policy of the Kafka cluster rejects the topics'),
};

function causes(error: unknown): readonly Error[] {
  if (!(error instanceof Error)) return [];
  const nested = 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
  return [error, ...[error.cause, ...nested].flatMap(causes)];
}
