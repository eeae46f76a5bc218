/** Fake clusters in a child process that executes its parent's requests. See `fake-clusters-process.ts`. */
import { FakeClusters, type FakeClustersOptions } from './fake-clusters.ts';
import type { Request, Response } from './fake-clusters-process.ts';

let clusters: FakeClusters | undefined;

async function handle({ method, args }: Request): Promise<unknown> {
  if (method === 'start') {
    clusters = new FakeClusters(args[0] as FakeClustersOptions);
    return clusters.serve();
  }
  if (clusters === undefined) throw new Error('call start first');
  const call = clusters[method] as (...given: readonly unknown[]) => unknown;
  return call.apply(clusters, [...args]);
}

process.on('message', (request: Request) => {
  const respond = (response: Response) => process.send?.(response);
  handle(request).then(
    (result) => respond({ id: request.id, result }),
    (error: unknown) =>
      respond({ id: request.id, error: error instanceof Error ? (error.stack ?? '') : String(error) }),
  );
});
process.on('disconnect', () => process.exit());
