import { type ClusterWriter, isApiError, type Resource } from '@sluice/kubernetes';

type Verb = 'get' | 'create' | 'update' | 'delete';

/** Called with each answer: the HTTP status of a failure, 0 if there was no response, null for success. */
export type OnAnswer = (verb: Verb, resource: Resource, status: number | null) => void;

/** The same writer, telling of every answer. */
export function meteredWriter(writer: ClusterWriter, onAnswer: OnAnswer): ClusterWriter {
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
