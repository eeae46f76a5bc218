import type { ClusterWriter } from '@sluice/kubernetes';

/** The same writer, each of whose requests waits until `pass` lets it through. */
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
