import { type Logger, tlsProblem } from '@sluice/runtime';
import kafkajs, { type Admin } from 'kafkajs';
import type { Brokers } from './brokers.ts';
import { type BusSetupCode, BusSetupError } from './errors.ts';
import { kafkajsLogger } from './kafkajs-logger.ts';
import { type KafkaBusOptions, type KafkaConnection, saslOptions } from './options.ts';
import { errorCode } from './protocol.ts';
import { type FoundTopic, misfits, type WantedTopic, wantedTopics } from './topic-fit.ts';

/**
 * Makes the topics that are missing and checks those that are there. Never changes one.
 *
 * @throws BusSetupError if one does not fit, or Kafka does not let us make or see them
 */
export async function ensureTopics(options: KafkaBusOptions, brokers: Pick<Brokers, 'metadata'>): Promise<void> {
  const wanted = wantedTopics(options);
  await withAdmin(options, options.logger, async (admin) => {
    // Not the list that kafkajs has: it fails while any topic of the cluster, ours or not, has a partition without leader.
    const seen = await brokers.metadata(wanted.map(({ name }) => name));
    const absent = seen.filter((topic) => topic.errorCode === errorCode.unknownTopicOrPartition);
    const missing = wanted.filter(({ name }) => absent.some((topic) => topic.name === name));
    if (missing.length > 0) {
      await create(admin, missing);
      options.logger.info('made Kafka topics', { topics: missing.map(({ name }) => name) });
    }
    const found = await describe(admin, wanted);
    const wrong = wanted.flatMap((topic) => {
      const match = found.find(({ name }) => name === topic.name);
      return match === undefined ? [] : misfits(topic, match);
    });
    if (wrong.length > 0) {
      throw new BusSetupError(
        'BUS_TOPIC_MISFIT',
        `${wrong.join('; ')}. Alter the topic, or the configuration; nothing was changed.`,
      );
    }
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

async function describe(admin: Admin, wanted: readonly WantedTopic[]): Promise<readonly FoundTopic[]> {
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

async function withAdmin(
  { brokers, clientId, tls, sasl }: KafkaConnection,
  logger: Logger,
  use: (admin: Admin) => Promise<void>,
): Promise<void> {
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
    await use(admin);
  } catch (error) {
    throw explain(error);
  } finally {
    await admin.disconnect();
  }
}

/** kafkajs wraps what the broker said; what only a person can mend is told as such. */
function explain(error: unknown): unknown {
  const distrust = tlsProblem(error);
  if (distrust !== undefined)
    return new BusSetupError('BUS_TLS', `Kafka cannot be spoken to with TLS: ${distrust}`, error);
  for (const each of causes(error)) {
    const type = 'type' in each ? String(each.type) : each.name;
    const known = hopeless[type];
    if (known !== undefined) return new BusSetupError(known.code, `${known.advice}: ${each.message}`, error);
  }
  return error;
}

const badLogin = { code: 'BUS_CREDENTIALS', advice: 'Kafka refuses the user or the password' } as const;
const refused = (advice: string) => ({ code: 'BUS_TOPIC_REFUSED', advice }) as const;

const hopeless: Readonly<Record<string, { readonly code: BusSetupCode; readonly advice: string }>> = {
  KafkaJSSASLAuthenticationError: badLogin,
  SASL_AUTHENTICATION_FAILED: badLogin,
  UNSUPPORTED_SASL_MECHANISM: { code: 'BUS_CREDENTIALS', advice: 'Kafka does not have this SASL mechanism' },
  TOPIC_AUTHORIZATION_FAILED: refused(
    'Kafka does not let us make or see our topics (ACLs Create, Describe, DescribeConfigs)',
  ),
  CLUSTER_AUTHORIZATION_FAILED: refused('Kafka does not let us make our topics (ACL Create)'),
  INVALID_REPLICATION_FACTOR: {
    code: 'BUS_TOO_FEW_BROKERS',
    advice: 'Kafka has fewer brokers than the replication factor',
  },
  INVALID_TOPIC_EXCEPTION: refused('the name of the fleet cannot begin the name of a topic'),
  INVALID_CONFIG: refused('Kafka refuses the settings of our topics'),
  POLICY_VIOLATION: refused('a policy of this Kafka refuses our topics'),
};

function causes(error: unknown): readonly Error[] {
  if (!(error instanceof Error)) return [];
  const several = 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
  return [error, ...[error.cause, ...several].flatMap(causes)];
}
