import {
  MalformedObjectError,
  type Pod,
  projectPod,
  projectService,
  type Service,
  type StringMap,
} from '@sluice/controllers';
import { type ClusterWriter, isApiError, type RawObject, type Resource } from '@sluice/kubernetes';
import type { PlannedMutations, RemovalEvidence } from '@sluice/messages';
import type { Retrying } from './retrying.ts';

/** A fresh read: the object as the API server's store has it, null if there is none. */
type Look = (resource: Resource, name: string) => Promise<RawObject | null>;

/** What speaks against a removal. */
export interface Objection {
  readonly text: string;
  /**
   * What the plan rests on was so, and has changed: that a Pod is not ready is read from the Pod itself, so no list can be
   * wrong about it by leaving it out.
   */
  readonly overtaken: boolean;
}

/**
 * Looks in the cluster itself whether what the plan removes endpoints for is so. Returns what speaks against it; undefined:
 * nothing does. Fails as the API server does.
 */
export async function checkClaims(
  { key: { namespace, service }, ready }: PlannedMutations,
  cluster: Pick<ClusterWriter, 'get'>,
  retrying: Retrying,
  signal: AbortSignal,
): Promise<Objection | undefined> {
  const claims = ready?.evidence ?? [];
  if (claims.length === 0) return undefined;
  const look: Look = async (resource, name) => {
    try {
      return await retrying(() => cluster.get(resource, resource === 'nodes' ? '' : namespace, name, signal));
    } catch (error) {
      if (isApiError(error) && error.status === 404) return null;
      throw error;
    }
  };
  const found = serviceOf(await look('services', service));
  if (found === undefined || found.deleting) return undefined;
  let overtaken: Objection | undefined;
  for (const claim of claims) {
    const text = await checkClaim(claim, found, look);
    if (text === undefined) continue;
    if (claim.kind !== 'readiness') return { text, overtaken: false };
    overtaken ??= { text, overtaken: true };
  }
  return overtaken;
}

async function checkClaim(claim: RemovalEvidence, service: Service, look: Look): Promise<string | undefined> {
  switch (claim.kind) {
    case 'service':
      return `Service ${service.name} is there`;
    case 'pod': {
      const found = podOf(await look('pods', claim.name));
      const isHere = found !== undefined && selects(service, found.labels) && serves(found.pod, claim.uid);
      return isHere ? `Pod ${claim.name} is there, selected and ready` : undefined;
    }
    case 'readiness': {
      const found = podOf(await look('pods', claim.name));
      return found !== undefined && serves(found.pod, claim.uid) ? `Pod ${claim.name} is ready` : undefined;
    }
    case 'node':
      return (await look('nodes', claim.name)) === null ? undefined : `Node ${claim.name} is there`;
    case 'endpoints':
      // Those of a Service that has a selector now are not mirrored any more.
      if (service.selector !== null) return undefined;
      return (await look('endpoints', service.name)) === null ? undefined : `Endpoints ${service.name} are there`;
  }
}

const podOf = wellFormed(projectPod);
const serviceOf = wellFormed(projectService);

/** Of which a watcher can make nothing is as good as not there. */
function wellFormed<T>(project: (raw: unknown) => T): (raw: RawObject | null) => T | undefined {
  return (raw) => {
    try {
      return raw === null ? undefined : project(raw);
    } catch (error) {
      if (error instanceof MalformedObjectError) return undefined;
      throw error;
    }
  };
}

/** That very Pod runs, and is ready. */
function serves(pod: Pod, uid: string): boolean {
  return pod.uid === uid && pod.ready && !pod.terminating && !pod.terminal;
}

function selects({ selector }: Service, labels: StringMap): boolean {
  return selector !== null && Object.entries(selector).every(([label, value]) => labels[label] === value);
}
