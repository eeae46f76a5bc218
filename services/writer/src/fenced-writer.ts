import type { ClusterWriter } from '@sluice/kubernetes';
import { FencedError } from '@sluice/store';

/**
 * Sends nothing once the lease under which it is used has run out: a process that was frozen for longer than that may have
 * a successor. Preconditions hold off what was on its way already.
 */
export function fencedWriter(writer: ClusterWriter, isCurrent: () => boolean): ClusterWriter {
  const fenced = <T>(send: () => Promise<T>): Promise<T> =>
    isCurrent() ? send() : Promise.reject(new FencedError('the lease has run out; nothing is sent any more'));
  return {
    get: (...args) => fenced(() => writer.get(...args)),
    create: (...args) => fenced(() => writer.create(...args)),
    update: (...args) => fenced(() => writer.update(...args)),
    delete: (...args) => fenced(() => writer.delete(...args)),
  };
}
