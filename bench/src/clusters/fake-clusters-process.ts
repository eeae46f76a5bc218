import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { FakeClusters, FakeClustersOptions } from './fake-clusters.ts';

type Method = 'incomplete' | 'writes' | 'inject' | 'repair' | 'flip' | 'measureRecovery';

export interface Request {
  readonly id: number;
  readonly method: 'start' | Method;
  readonly args: readonly unknown[];
}

export type Response =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: string };

/** Enough for the objects of a thousand clusters. */
const execArgv = ['--disable-warning=ExperimentalWarning', '--max-old-space-size=12000'];

const program = fileURLToPath(new URL('./fake-clusters-program.ts', import.meta.url));

/** `FakeClusters` in a child process, so that their cost is not attributed to Sluice. */
export class FakeClustersProcess {
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #count = 0;

  private constructor() {
    this.#child = fork(program, { serialization: 'advanced', execArgv });
    this.#child.on('message', (response: Response) => {
      const waiting = this.#pending.get(response.id);
      this.#pending.delete(response.id);
      if ('error' in response) waiting?.reject(new Error(`in the fake clusters' process: ${response.error}`));
      else waiting?.resolve(response.result);
    });
    this.#child.on('exit', (code, signal) => {
      for (const { reject } of this.#pending.values())
        reject(new Error(`the fake clusters' process exited: ${signal ?? code}`));
    });
  }

  static async start(options: FakeClustersOptions): Promise<FakeClustersProcess> {
    const clusters = new FakeClustersProcess();
    await clusters.#send('start', options);
    return clusters;
  }

  request<M extends Method>(
    method: M,
    ...args: Parameters<FakeClusters[M]>
  ): Promise<Awaited<ReturnType<FakeClusters[M]>>> {
    return this.#send(method, ...args) as Promise<Awaited<ReturnType<FakeClusters[M]>>>;
  }

  stop(): void {
    this.#child.disconnect();
  }

  #send(method: Request['method'], ...args: readonly unknown[]): Promise<unknown> {
    const id = ++this.#count;
    const waiting = Promise.withResolvers<unknown>();
    this.#pending.set(id, waiting);
    this.#child.send({ id, method, args } satisfies Request);
    return waiting.promise;
  }
}
