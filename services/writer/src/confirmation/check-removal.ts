import { selectorMatches } from '@sluice/controllers';
import type { ClusterWriter, RawObject } from '@sluice/kubernetes';
import type { PlannedMutations, RemovalEvidence } from '@sluice/messages';
import { projectPod, projectService, type Service } from '@sluice/model';
import { asRecord } from '@sluice/platform';
import { type Contradiction, decode, type FreshRead, freshReads, serves } from './fresh-read.ts';

/**
 * An object may be this old at most, in milliseconds, to have been created again after the deletion on which the plan was decided. It covers a
 * watch that is behind, timestamps of whole seconds, and clocks that differ.
 */
const recreatedWithinMs = 60_000;

/**
 * Checks the evidence of a removal against fresh reads. Returns the first contradiction, or undefined if there is none. A removal that was right
 * when it was decided is overtaken, unless other evidence was wrong then.
 *
 * @throws ApiError if a read fails
 */
export async function checkRemoval(
  plan: PlannedMutations,
  cluster: Pick<ClusterWriter, 'get'>,
  signal: AbortSignal,
): Promise<Contradiction | undefined> {
  const { namespace, service } = plan.key;
  const evidence = plan.ready?.evidence ?? [];
  const read = freshReads(cluster, namespace, signal);
  const raw = await read('services', service);
  const found = decode(projectService, raw);
  if (found === 'undecodable') return { text: `Service ${service} exists and cannot be decoded`, overtaken: false };
  if (found === undefined || found.deleting) return undefined;
  let overtaken: Contradiction | undefined;
  for (const item of evidence) {
    const contradicted = await contradiction(item, { raw, found }, plan.decidedAt, read);
    if (contradicted?.overtaken === false) return contradicted;
    overtaken ??= contradicted;
  }
  return overtaken;
}

interface FreshService {
  readonly raw: RawObject | null;
  readonly found: Service;
}

async function contradiction(
  evidence: RemovalEvidence,
  { raw, found: service }: FreshService,
  decidedAt: number,
  read: FreshRead,
): Promise<Contradiction | undefined> {
  const exists = (text: string, object: RawObject | null): Contradiction => ({
    text,
    overtaken: isRecent(object, decidedAt),
  });
  switch (evidence.kind) {
    case 'service':
      return exists(`Service ${service.name} exists`, raw);
    case 'pod': {
      const found = decode(projectPod, await read('pods', evidence.name));
      if (found === undefined) return undefined;
      if (found === 'undecodable') return undecodable(evidence.name);
      const isHere = selectorMatches(service.selector, found.labels) && serves(found.pod, evidence.uid);
      return isHere ? { text: `Pod ${evidence.name} exists, is selected and ready`, overtaken: false } : undefined;
    }
    case 'readiness': {
      const found = decode(projectPod, await read('pods', evidence.name));
      if (found === 'undecodable') return undecodable(evidence.name);
      const isReady = found !== undefined && serves(found.pod, evidence.uid);
      return isReady ? { text: `Pod ${evidence.name} is ready again`, overtaken: true } : undefined;
    }
    case 'node': {
      const node = await read('nodes', evidence.name);
      return node === null ? undefined : exists(`Node ${evidence.name} exists`, node);
    }
    case 'endpoints': {
      // Endpoints of a Service that now has a selector are not mirrored.
      if (service.selector !== null) return undefined;
      const endpoints = await read('endpoints', service.name);
      return endpoints === null ? undefined : exists(`Endpoints ${service.name} exist`, endpoints);
    }
  }
}

const undecodable = (pod: string): Contradiction => ({
  text: `Pod ${pod} exists and cannot be decoded`,
  overtaken: false,
});

/** Whether the object may be younger than what was known when the plan was decided. False if its age is unknown. */
function isRecent(object: RawObject | null, decidedAt: number): boolean {
  const { creationTimestamp } = asRecord(object?.metadata);
  return typeof creationTimestamp === 'string' && Date.parse(creationTimestamp) > decidedAt - recreatedWithinMs;
}
