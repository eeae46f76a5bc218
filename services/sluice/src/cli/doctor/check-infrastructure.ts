import type { BusLimits } from '@sluice/bus';
import { findParked, type ParkedKey } from '@sluice/console';
import { type ClusterSource, configuredNames, type IdentityConflict, StoredIdentities } from '@sluice/fleet/clusters';
import type { Configuration } from '@sluice/fleet/configuration';
import { BusClaim, openInfrastructure } from '@sluice/fleet/roles';
import { type Check, failed, ok, warning } from '@sluice/kubernetes/preflight';
import type { Clock, LogFields, Logger, Random } from '@sluice/platform';
import { exactDuration, firstLine, isUsageError } from '@sluice/platform/process';
import { heldBackReasons } from '@sluice/writer';
import { readStoredClusters, type StoredCluster } from '../../composition/stored-clusters.ts';
import { historyBytes } from '../../composition/telemetry/start-console.ts';

/** Connects to bus and store like a role. Errors and warnings at that point become checks with the same text. */
export async function checkInfrastructure(
  configuration: Pick<Configuration, 'fleet' | 'partitions' | 'bus' | 'store'>,
  ports: { readonly clock: Clock; readonly random: Random },
  sources: readonly ClusterSource[] = [],
): Promise<readonly Check[]> {
  const { bus, store } = configuration;
  const about = 'bus and store';
  if (bus.kind === 'memory' && store.kind === 'memory') {
    return [ok(about, 'in this process', 'in-process; rebuilt from the clusters at each start')];
  }
  const warnings: string[] = [];
  try {
    const logger = collectWarnings(warnings);
    const opened = await openInfrastructure(configuration, { ...ports, logger });
    try {
      await new BusClaim({ ...opened, ...ports, logger, fleet: configuration.fleet }).verify();
      const letters = await opened.deadLetters.list();
      const checks = [ok(about, 'connection', `${bus.kind} and ${store.kind}, ${opened.bus.partitions} partitions`)];
      checks.push(messageSizeCheck(about, opened.bus.limits));
      checks.push(
        ...warnings.map((text) =>
          warning(about, 'settings', text, 'see docs/guides/redis.md, docs/guides/nats.md, docs/guides/kafka.md'),
        ),
      );
      const detail = `${letters.length} records could not be processed`;
      checks.push(
        letters.length === 0
          ? ok(about, 'dead letters', 'none')
          : warning(about, 'dead letters', detail, 'run "sluice dead-letters list"'),
      );
      checks.push(identityCheck(about, await new StoredIdentities(opened.clusterPins).conflicts()));
      checks.push(...(await storedClustersCheck(about, await readStoredClusters(opened), sources)));
      return [...checks, parkedCheck(about, await findParked(opened.store, opened.bus.partitions))];
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (!isUsageError(error)) throw error;
    return [failed(about, 'connection', error.message, 'correct the configuration or the servers as the message says')];
  }
}

/** Clusters that are not served because their identity contradicts the pinned one. */
export function identityCheck(about: string, conflicts: readonly IdentityConflict[]): Check {
  const [first] = conflicts;
  if (first === undefined) return ok(about, 'cluster identities', 'no conflicts');
  const more = conflicts.length === 1 ? '' : `, and ${conflicts.length - 1} more`;
  const advice = 'check which is right, then run "sluice clusters accept NAME"; see docs/guides/many-clusters.md';
  return failed(about, 'cluster identities', `conflict of ${first.name}: ${first.reason}${more}`, advice);
}

/** Clusters that are stored, but neither watched nor configured. None if a source cannot be read: it may list them. */
export async function storedClustersCheck(
  about: string,
  stored: readonly StoredCluster[],
  sources: readonly ClusterSource[],
): Promise<readonly Check[]> {
  let configured: ReadonlySet<string>;
  try {
    configured = await configuredNames(sources);
  } catch (error) {
    if (!isUsageError(error)) throw error;
    return [];
  }
  const forgotten = stored.filter(({ name, watchedBy }) => watchedBy === undefined && !configured.has(name));
  const [first] = forgotten;
  if (first === undefined) return [ok(about, 'stored clusters', 'all are configured')];
  const detail = `${forgotten.map(({ name }) => name).join(', ')}: stored, but neither configured here nor watched`;
  const advice = `if it is not configured anywhere, run "sluice clusters forget ${first.name}"`;
  return [warning(about, 'stored clusters', detail, advice)];
}

/** A message of 50,000 endpoints has about 16 MiB. */
const ampleMessageBytes = 16 * 1024 * 1024;

/** What the bus reports as its limits. */
function messageSizeCheck(about: string, { recordBytes, messageBytes }: BusLimits): Check {
  const detail = `up to ${kibibytes(recordBytes)} per record, ${kibibytes(messageBytes)} per message in chunks`;
  if (messageBytes >= ampleMessageBytes) return ok(about, 'message size', detail);
  const advice = 'raise bus.maxBytes.changes and bus.maxBytes.mutations; see docs/operations/capacity.md';
  return warning(about, 'message size', `${detail}: a Service of 50,000 endpoints may exceed it`, advice);
}

const kibibytes = (bytes: number) => `${Math.floor(bytes / 1024)} KiB`;

/** Reports parked Services, those with held-back changes first. */
export function parkedCheck(about: string, parked: readonly ParkedKey[]): Check {
  const [first] = parked;
  if (first === undefined) return ok(about, 'parked', 'none');
  const isHeldBack = ({ reason }: ParkedKey) =>
    Object.values(heldBackReasons).some((prefix) => reason.startsWith(prefix));
  const held = parked.filter(isHeldBack);
  const shown = held[0] ?? first;
  const changes = held.length === 0 ? '' : `, ${held.length} with a held-back change`;
  const detail = `${parked.length} parked${changes}: ${shown.name}, ${firstLine(shown.reason)}`;
  const isAddition = shown.reason.startsWith(heldBackReasons.addition);
  const runbook = held.length === 0 ? 'parked-services.md' : isAddition ? 'mass-addition.md' : 'mass-removal.md';
  return warning(about, 'parked', detail, `run "sluice parked list"; see docs/operations/runbooks/${runbook}`);
}

function collectWarnings(warnings: string[]): Logger {
  const note = (message: string, fields?: LogFields) => {
    const { error, ...rest } = fields ?? {};
    const details = Object.entries(rest).map(([name, value]) => `${name} ${String(value)}`);
    warnings.push([message, ...details, ...(error instanceof Error ? [error.message] : [])].join(', '));
  };
  const logger: Logger = { debug() {}, info() {}, warn: note, error: note, with: () => logger };
  return logger;
}

/** The default retention of a bus. */
const dayMs = 24 * 3_600_000;

/** How far back `sluice history`, `explain` and the console can look: what bounds it, and which bound comes first. */
export function historyCheck({ bus, console }: Pick<Configuration, 'bus' | 'console'>): Check {
  const [about, check] = ['history', 'retention'];
  const wanted = exactDuration(console.retentionMs);
  if (bus.kind === 'memory') {
    return ok(about, check, `since process start, at most ${wanted} and ${mebibytes(historyBytes)}`);
  }
  const { changes = dayMs, mutations = dayMs } = (bus.kind === 'nats' ? bus.maxAgeMs : bus.retentionMs) ?? {};
  const kept = Math.min(changes, mutations);
  const limit = `at most ${mebibytes(console.maxBytes)} per console`;
  if (kept >= console.retentionMs) return ok(about, check, `${wanted}, ${limit}`);
  const setting = changes <= mutations ? 'bus.maxAge.changes' : 'bus.maxAge.mutations';
  const detail = `${exactDuration(kept)}, ${limit}: limited by the bus, although console.retention is ${wanted}`;
  return warning(about, check, detail, `raise ${setting}, or lower console.retention`);
}

const mebibytes = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)} MiB`;
