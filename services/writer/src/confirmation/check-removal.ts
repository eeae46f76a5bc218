import { projectPod, projectService, type Service, selectorMatches } from '@sluice/controllers';
import type { ClusterWriter } from '@sluice/kubernetes';
import type { PlannedMutations, RemovalEvidence } from '@sluice/messages';
import { type Contradiction, decode, type FreshRead, freshReads, serves } from './fresh-read.ts';

/**
 * Checks the evidence of a removal against fresh reads. Returns the first contradiction, or undefined if there is none.
 *
 * @throws ApiError if a read fails
 */
export async function checkRemoval(
  { key: { namespace, service }, ready }: PlannedMutations,
  cluster: Pick<ClusterWriter, 'get'>,
  signal: AbortSignal,
): Promise<Contradiction | undefined> {
  const evidence = ready?.evidence ?? [];
  if (evidence.length === 0) return undefined;
  const read = freshReads(cluster, namespace, signal);
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
      return found !== undefined && serves(found.pod, evidence.uid) ? `Pod ${evidence.name} is ready again` : undefined;
    }
    case 'node':
      return (await read('nodes', evidence.name)) === null ? undefined : `Node ${evidence.name} exists`;
    case 'endpoints':
      // Endpoints of a Service that now has a selector are not mirrored.
      if (service.selector !== null) return undefined;
      return (await read('endpoints', service.name)) === null ? undefined : `Endpoints ${service.name} exist`;
  }
}
