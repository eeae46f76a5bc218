import { type ClusterWriter, isApiError, type Resource } from '@sluice/kubernetes';

type Verb = 'get' | 'create' | 'update' | 'delete';

/**
 * Called for each response. `status` is null on success, the HTTP status on failure, and 0 if there was no response.
 */
export type OnResponse = (verb: Verb, resource: Resource, status: number | null) => void;

/** Wraps a writer and reports every response to `onResponse`. */
export function meteredWriter(writer: ClusterWriter, onAnswer: OnResponse): ClusterWriter {
  const metered = async <T>(verb: Verb, resource: Resource, request: Promise<T>): Promise<T> => {
    try {
      const answer = await request;
      onAnswer(verb, resource, null);
      return answer;
    } catch (error) {
      if (isApiError(error)) onAnswer(verb, resource, error.status);
      throw error;
    }
  };
  return {
    get: (resource, ...rest) => metered('get', resource, writer.get(resource, ...rest)),
    create: (resource, ...rest) => metered('create', resource, writer.create(resource, ...rest)),
    update: (resource, ...rest) => metered('update', resource, writer.update(resource, ...rest)),
    delete: (resource, ...rest) => metered('delete', resource, writer.delete(resource, ...rest)),
  };
}
