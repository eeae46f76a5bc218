import { MalformedObjectError, type Pod } from '@sluice/controllers';
import { type ClusterWriter, isApiError, type RawObject, type Resource } from '@sluice/kubernetes';

/** Quorum read of an object. Returns null if it does not exist. */
export type FreshRead = (resource: Resource, name: string) => Promise<RawObject | null>;

/** Why the cluster does not confirm a change. */
export interface Contradiction {
  readonly text: string;
  /** The change may have been right when it was decided: decide again, and park nothing. */
  readonly overtaken: boolean;
}

/** Reads objects of a namespace, and Nodes. */
export function freshReads(cluster: Pick<ClusterWriter, 'get'>, namespace: string, signal: AbortSignal): FreshRead {
  return async (resource, name) => {
    try {
      return await cluster.get(resource, resource === 'nodes' ? '' : namespace, name, signal);
    } catch (error) {
      if (isApiError(error) && error.kind === 'notFound') return null;
      throw error;
    }
  };
}

/** Undefined if the object does not exist. An object that cannot be decoded exists: it never confirms anything. */
export function decode<T>(project: (raw: unknown) => T, raw: RawObject | null): T | 'undecodable' | undefined {
  if (raw === null) return undefined;
  try {
    return project(raw);
  } catch (error) {
    if (error instanceof MalformedObjectError) return 'undecodable';
    throw error;
  }
}

/** Whether this very Pod is running and ready. */
export function serves(pod: Pod, uid: string): boolean {
  return pod.uid === uid && pod.ready && !pod.terminating && !pod.terminal;
}
