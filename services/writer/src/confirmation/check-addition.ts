import { selectorMatches } from '@sluice/controllers';
import type { ClusterWriter } from '@sluice/kubernetes';
import type { AdditionEvidence, PlannedMutations } from '@sluice/messages';
import { normaliseIp, projectEndpoints, projectPod, projectService, type Service } from '@sluice/model';
import { type Contradiction, decode, type FreshRead, freshReads } from './fresh-read.ts';

/**
 * Checks the evidence for added addresses against fresh reads. Returns the first contradiction, or undefined if there is
 * none.
 *
 * @throws ApiError if a read fails
 */
export async function checkAddition(
  { key: { namespace, service }, ready }: PlannedMutations,
  cluster: Pick<ClusterWriter, 'get'>,
  signal: AbortSignal,
): Promise<Contradiction | undefined> {
  const evidence = ready?.added?.evidence ?? [];
  const read = freshReads(cluster, namespace, signal);
  const found = decode(projectService, await read('services', service));
  const contradicted = (text: string): Contradiction => ({ text, overtaken: false });
  if (found === 'undecodable') return contradicted(`Service ${service} cannot be decoded`);
  if (found === undefined) return contradicted(`Service ${service} does not exist`);
  for (const item of evidence) {
    const text = await contradiction(item, found, read);
    if (text !== undefined) return contradicted(text);
  }
  return undefined;
}

async function contradiction(
  evidence: AdditionEvidence,
  service: Service,
  read: FreshRead,
): Promise<string | undefined> {
  if (evidence.kind === 'endpoints') {
    const found = decode(projectEndpoints, await read('endpoints', service.name));
    if (found === 'undecodable') return `Endpoints ${service.name} cannot be decoded`;
    const has = (found?.subsets ?? []).some(({ addresses, notReadyAddresses }) =>
      [...(addresses ?? []), ...(notReadyAddresses ?? [])].some(({ ip }) => isSameIp(ip, evidence.address)),
    );
    return has ? undefined : `Endpoints ${service.name} do not have address ${evidence.address}`;
  }
  const { name, uid, address } = evidence;
  const found = decode(projectPod, await read('pods', name));
  if (found === 'undecodable') return `Pod ${name} cannot be decoded`;
  if (found === undefined || found.pod.uid !== uid) return `Pod ${name} does not exist`;
  if (!selectorMatches(service.selector, found.labels)) return `Pod ${name} is not selected`;
  if ([found.pod.ip, ...found.pod.ips].some((ip) => isSameIp(ip, address))) return undefined;
  return `Pod ${name} does not have address ${address}`;
}

/** Whether an IP in any of the forms that the API server stores is written as this address (C6, C7). */
const isSameIp = (ip: string, address: string): boolean => normaliseIp(ip).text === address || ip === address;
