import type { ClusterWriter } from '@sluice/kubernetes';
import { FencedError } from '@sluice/store';

/**
 * Rejects every request once the lease has expired: a process that was frozen for longer than its lease may have a
 * successor. Requests already on their way are stopped by their preconditions.
 */
export function fencedWriter(writer: ClusterWriter, isCurrent: () => boolean): ClusterWriter {
  const fenced = <T>(send: () => Promise<T>): Promise<T> =>
    isCurrent() ? send() : Promise.reject(new FencedError('lease expired; request not sent'));
  return {
    get: (...args) => fenced(() => writer.get(...args)),
    create: (...args) => fenced(() => writer.create(...args)),
    update: (...args) => fenced(() => writer.update(...args)),
    delete: (...args) => fenced(() => writer.delete(...args)),
  };
}
