/** Fake clusters in a child process that executes its parent's requests. See `fake-clusters-process.ts`. */
import { Worlds, type WorldsOptions } from './worlds.ts';
import type { Asked, Told } from './worlds-process.ts';

let worlds: Worlds | undefined;

async function answer({ method, args }: Asked): Promise<unknown> {
  if (method === 'start') {
    worlds = new Worlds(args[0] as WorldsOptions);
    return worlds.serve();
  }
  if (worlds === undefined) throw new Error('nothing was started');
  const call = worlds[method] as (...given: readonly unknown[]) => unknown;
  return call.apply(worlds, [...args]);
}

process.on('message', (asked: Asked) => {
  const tell = (told: Told) => process.send?.(told);
  answer(asked).then(
    (result) => tell({ id: asked.id, result }),
    (error: unknown) => tell({ id: asked.id, error: error instanceof Error ? (error.stack ?? '') : String(error) }),
  );
});
process.on('disconnect', () => process.exit());
