import { MemoryBus } from '@sluice/bus';
import { semanticEqual } from '@sluice/fake-apiserver';
import { type ClusterReader, type ClusterWriter, isApiError } from '@sluice/kubernetes';
import {
  type EndpointSlice,
  type Endpoints,
  projectEndpointSlice,
  projectEndpoints,
  type WrittenResource,
} from '@sluice/model';
import { type Clock, type Random, silentLogger, sleep } from '@sluice/platform';
import { runReconciler } from '@sluice/reconciler';
import { defaultSettings } from '@sluice/service-state';
import { MemoryStore } from '@sluice/store';
import { ClusterWatcher } from '@sluice/watcher';
import { defaultRetry, runWriter, unlimited } from '@sluice/writer';

export interface RecomputationOptions {
  readonly reader: ClusterReader;
  readonly writer: ClusterWriter;
  readonly clock: Clock;
  readonly random: Random;
}

const partitions = 2;
/** After this much time without a decision the recomputation is complete. */
const quietMs = 700;
const triggerTime = 'endpoints.kubernetes.io/last-change-trigger-time';

/**
 * Full recomputation: returns what a new Sluice with an empty bus and store would write to this cluster, without
 * writing it. After convergence that is nothing, apart from what only a start does (D4: delete Endpoints without a
 * Service) and lost trigger times (C17), which are ignored.
 */
export async function findMissingWrites(options: RecomputationOptions): Promise<readonly string[]> {
  const { clock, random, reader } = options;
  const identity = await reader.identity(AbortSignal.timeout(10_000));
  const bus = new MemoryBus({ partitions });
  const stop = new AbortController();
  const missing: string[] = [];
  let lastAt = clock.monotonic();
  const dry = dryWriter(options.writer, (line) => {
    lastAt = clock.monotonic();
    if (line !== undefined) missing.push(line);
  });
  const ports = { clock, random, logger: silentLogger, bus };
  const work = { ...ports, store: new MemoryStore(), epoch: 1, partitions: [...Array(partitions).keys()] };
  const writable = { writer: dry, limit: unlimited, record: () => {} };
  const watcher = new ClusterWatcher({ ...ports, cluster: identity, fencingToken: 1, reader });
  const running = Promise.all([
    watcher.run(stop.signal),
    runReconciler({ ...work, fencingToken: 1, settings: defaultSettings }, stop.signal),
    runWriter(
      { ...work, fencingToken: 1, cluster: () => writable, retry: defaultRetry, requestSignal: stop.signal },
      stop.signal,
    ),
  ]);
  await Promise.race([watcher.synced, running]);
  lastAt = clock.monotonic();
  while (clock.monotonic() - lastAt < quietMs) await sleep(clock, 50);
  stop.abort();
  await bus.close();
  await running;
  return missing;
}

/** Reports each requested write that would change something, and undefined for every other request. */
function dryWriter(writer: ClusterWriter, report: (line: string | undefined) => void): ClusterWriter {
  const find = async (resource: WrittenResource, namespace: string, name: string, signal: AbortSignal) => {
    try {
      const raw = await writer.get(resource, namespace, name, signal);
      return resource === 'endpoints' ? projectEndpoints(raw) : projectEndpointSlice(raw);
    } catch (error) {
      if (isApiError(error) && error.status === 404) return undefined;
      throw error;
    }
  };
  const answer = ({ metadata }: Endpoints | EndpointSlice) => ({
    name: metadata.name,
    uid: metadata.uid ?? `fresh-${metadata.name}`,
    resourceVersion: metadata.resourceVersion ?? '1',
    generation: metadata.generation ?? 1,
  });
  const name = ({ metadata }: Endpoints | EndpointSlice) => `${metadata.namespace}/${metadata.name}`;
  return {
    get: (...args) => writer.get(...args),
    async create(resource, object) {
      report(`create ${resource} ${name(object)}: ${text(content(object))}`);
      return answer(object);
    },
    async update(resource, object, signal) {
      const found = await find(resource, object.metadata.namespace ?? '', object.metadata.name, signal);
      const [before, after] = [found && content(found), content(object)];
      // Compared as the API server compares: it stores an empty list of ports as null.
      const same = before !== undefined && semanticEqual(before, after);
      report(same ? undefined : `update ${resource} ${name(object)}: ${before && text(before)} → ${text(after)}`);
      return { ...answer(object), ...(!same && { resourceVersion: laterThan(object) }) };
    },
    async delete(resource, namespace, objectName) {
      report(resource === 'endpoints' ? undefined : `delete ${resource} ${namespace}/${objectName}`);
    },
  };
}

/** A write that changes something has a version of its own, which the watch has not delivered. */
const laterThan = ({ metadata }: Endpoints | EndpointSlice): string =>
  String(BigInt(metadata.resourceVersion ?? 0) + 1n);

/** The content to compare, without fields set by the API server and without the trigger time. */
function content(object: Endpoints | EndpointSlice): object {
  const {
    resourceVersion: _version,
    generation: _generation,
    uid: _uid,
    annotations = {},
    ...metadata
  } = object.metadata;
  const { [triggerTime]: _time, ...others } = annotations;
  return { ...object, metadata: { ...metadata, annotations: others } };
}

function text(object: object): string {
  return JSON.stringify(object, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
