import { type ClusterWriter, isApiError } from '@sluice/kubernetes';
import { lastForeignWrite } from '@sluice/kubernetes/preflight';
import type { PlannedMutations } from '@sluice/messages';
import type { EndpointSlice, Endpoints } from '@sluice/model';

/** An object that a plan repairs once more, and the last write to it by another manager. */
export interface CompetingWrite {
  /** `endpointslices shop/web-x7k2p` */
  readonly object: string;
  /** The plan creates the object in place of one that was deleted or has lost its labels. */
  readonly isReplacement?: true;
  /** As in `managedFields`. Undefined if unknown, for example because the object was deleted. */
  readonly manager?: string;
  /** `2026-01-01T00:00:00Z` */
  readonly at?: string;
}

/**
 * Reads the first object of the plan. Returns the object without a manager if the read fails, because a competing
 * controller is no reason to stop writing.
 */
export async function findCompetingWrite(
  { key: { namespace }, groups }: PlannedMutations,
  cluster: Pick<ClusterWriter, 'get'>,
  ownManager: string,
  signal: AbortSignal,
): Promise<CompetingWrite | undefined> {
  const mutations = groups.flatMap((group) => group.mutations);
  const mutation = mutations.find(({ verb }) => verb === 'update') ?? mutations[0];
  if (mutation === undefined) return undefined;
  const name = mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name;
  const object = `${mutation.resource} ${namespace}/${name}`;
  if (mutation.verb === 'create') return { object, isReplacement: true };
  try {
    const { metadata } = await cluster.get(mutation.resource, namespace, name, signal);
    const last = lastForeignWrite(metadata, ownManager);
    return { object, ...(last && { manager: last.manager, at: new Date(last.at).toISOString() }) };
  } catch (error) {
    if (isApiError(error)) return { object };
    throw error;
  }
}

/** Whether the stored object has the wanted content, ignoring metadata set by the API server. */
export function equalContent(wanted: Endpoints | EndpointSlice, stored: Endpoints | EndpointSlice): boolean {
  const { metadata: a, ...body } = wanted;
  const { metadata: b, ...storedBody } = stored;
  return (
    includes(body, storedBody) &&
    includes(a.labels ?? {}, b.labels ?? {}) &&
    includes(a.annotations ?? {}, b.annotations ?? {}) &&
    includes(a.ownerReferences ?? [], b.ownerReferences ?? [])
  );
}

/**
 * Whether `whole` contains everything in `part`; the API server may have added defaults. Null equals a missing field.
 */
function includes(part: unknown, whole: unknown): boolean {
  if (part === null || part === undefined) return true;
  if (typeof part !== 'object') return part === whole;
  if (Array.isArray(part)) {
    const list = Array.isArray(whole) ? whole : [];
    return list.length === part.length && part.every((item, i) => includes(item, list[i]));
  }
  if (typeof whole !== 'object' || whole === null) return Object.keys(part).length === 0;
  return Object.entries(part).every(([key, value]) => includes(value, (whole as Record<string, unknown>)[key]));
}
