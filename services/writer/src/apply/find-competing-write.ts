import { type ClusterWriter, isApiError } from '@sluice/kubernetes';
import type { PlannedMutations } from '@sluice/messages';
import { lastForeignWrite } from '@sluice/preflight';

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
