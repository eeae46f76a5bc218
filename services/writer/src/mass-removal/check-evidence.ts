import {
  MalformedObjectError,
  type Pod,
  projectPod,
  projectService,
  type Service,
  selectorMatches,
} from '@sluice/controllers';
import { type ClusterWriter, isApiError, type RawObject, type Resource } from '@sluice/kubernetes';
import type { PlannedMutations, RemovalEvidence } from '@sluice/messages';

/** Quorum read of an object. Returns null if it does not exist. */
type FreshRead = (resource: Resource, name: string) => Promise<RawObject | null>;

/** Why the cluster does not confirm a removal. */
export interface Contradiction {
  readonly text: string;
  /**
   * The evidence was right when the plan was decided, and the Pod has become ready since. An incomplete list cannot
   * cause this, because readiness is read from the Pod itself.
   */
  readonly overtaken: boolean;
}

/**
 * Checks the evidence of a removal against fresh reads. Returns the first contradiction, or undefined if there is none.
 *
 * @throws ApiError if a read fails
 */
export async function checkEvidence(
  { key: { namespace, service }, ready }: PlannedMutations,
  cluster: Pick<ClusterWriter, 'get'>,
  signal: AbortSignal,
): Promise<Contradiction | undefined> {
  const evidence = ready?.evidence ?? [];
  if (evidence.length === 0) return undefined;
  const read: FreshRead = async (resource, name) => {
    try {
      return await cluster.get(resource, resource === 'nodes' ? '' : namespace, name, signal);
    } catch (error) {
      if (isApiError(error) && error.status === 404) return null;
      throw error;
    }
  };
  const found = decode(projectService, await read('services', service));
  if (found === 'undecodable') return { text: `Service ${service} exists and cannot be decoded`, overtaken: false };
  if (found === undefined || found.deleting) return undefined;
  let overtaken: Contradiction | undefined;
  for (const item of evidence) {
    const text = await contradiction(item, found, read);
    if (text === undefined) continue;
    if (item.kind !== 'readiness') return { text, overtaken: false };
    overtaken ??= { text, overtaken: true };
  }
  return overtaken;
}

async function contradiction(
  evidence: RemovalEvidence,
  service: Service,
  read: FreshRead,
): Promise<string | undefined> {
  switch (evidence.kind) {
    case 'service':
      return `Service ${service.name} exists`;
    case 'pod': {
      const found = decode(projectPod, await read('pods', evidence.name));
      if (found === undefined) return undefined;
      if (found === 'undecodable') return `Pod ${evidence.name} exists and cannot be decoded`;
      const isHere = selectorMatches(service.selector, found.labels) && serves(found.pod, evidence.uid);
      return isHere ? `Pod ${evidence.name} exists, is selected and ready` : undefined;
    }
    case 'readiness': {
      const found = decode(projectPod, await read('pods', evidence.name));
      if (found === 'undecodable') return `Pod ${evidence.name} exists and cannot be decoded`;
      return found !== undefined && serves(found.pod, evidence.uid) ? `Pod ${evidence.name} is ready` : undefined;
    }
    case 'node':
      return (await read('nodes', evidence.name)) === null ? undefined : `Node ${evidence.name} exists`;
    case 'endpoints':
      // Endpoints of a Service that now has a selector are not mirrored.
      if (service.selector !== null) return undefined;
      return (await read('endpoints', service.name)) === null ? undefined : `Endpoints ${service.name} exist`;
  }
}

/** Undefined if the object does not exist. An object that cannot be decoded exists: it never confirms a removal. */
function decode<T>(project: (raw: unknown) => T, raw: RawObject | null): T | 'undecodable' | undefined {
  if (raw === null) return undefined;
  try {
    return project(raw);
  } catch (error) {
    if (error instanceof MalformedObjectError) return 'undecodable';
    throw error;
  }
}

/** Whether this very Pod is running and ready. */
function serves(pod: Pod, uid: string): boolean {
  return pod.uid === uid && pod.ready && !pod.terminating && !pod.terminal;
}
