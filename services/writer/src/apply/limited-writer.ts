import type { ClusterWriter } from '@sluice/kubernetes';

/** Wraps a writer so that `pass` decides when each request runs. */
export function limitedWriter(
  writer: ClusterWriter,
  pass: <T>(request: () => Promise<T>) => Promise<T>,
): ClusterWriter {
  return {
    get: (...args) => pass(() => writer.get(...args)),
    create: (...args) => pass(() => writer.create(...args)),
    update: (...args) => pass(() => writer.update(...args)),
    delete: (...args) => pass(() => writer.delete(...args)),
  };
}
