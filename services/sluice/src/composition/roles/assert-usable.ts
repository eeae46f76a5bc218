import type { Cluster } from '@sluice/fleet/clusters';
import { isApiError } from '@sluice/kubernetes';

/** Rejects if this process cannot work with the cluster now. A quorum read, as the precondition of a write is one. */
export async function assertUsable(
  { identity, reader }: Pick<Cluster, 'identity' | 'reader'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    const found = await reader.identity(signal);
    if (found !== identity) throw new Error(`another cluster answers: ${found}`);
  } catch (error) {
    // An API server that limits the requests of a client does so wherever they come from.
    if (!isApiError(error) || error.status !== 429) throw error;
  }
}
