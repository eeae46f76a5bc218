import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Worlds, WorldsOptions } from './worlds.ts';

type Method = 'incomplete' | 'spoil' | 'heal' | 'flip' | 'settle';

export interface Asked {
  readonly id: number;
  readonly method: 'start' | Method;
  readonly args: readonly unknown[];
}

export type Told = { readonly id: number; readonly result: unknown } | { readonly id: number; readonly error: string };

const program = fileURLToPath(new URL('./world-program.ts', import.meta.url));

/** `FakeClusters` in a child process, so that their cost is not attributed to Sluice. */
export class WorldsProcess {
  readonly #child: ChildProcess;
  readonly #asked = new Map<number, PromiseWithResolvers<unknown>>();
  #count = 0;

  private constructor() {
    this.#child = fork(program, { serialization: 'advanced', execArgv: ['--disable-warning=ExperimentalWarning'] });
    this.#child.on('message', (told: Told) => {
      const waiting = this.#asked.get(told.id);
      this.#asked.delete(told.id);
      if ('error' in told) waiting?.reject(new Error(`in the fake clusters' process: ${told.error}`));
      else waiting?.resolve(told.result);
    });
    this.#child.on('exit', (code, signal) => {
      for (const { reject } of this.#asked.values())
        reject(new Error(`the fake clusters' process exited: ${signal ?? code}`));
    });
  }

  static async start(options: WorldsOptions): Promise<WorldsProcess> {
    const worlds = new WorldsProcess();
    await worlds.#ask('start', options);
    return worlds;
  }

  ask<M extends Method>(method: M, ...args: Parameters<Worlds[M]>): Promise<Awaited<ReturnType<Worlds[M]>>> {
    return this.#ask(method, ...args) as Promise<Awaited<ReturnType<Worlds[M]>>>;
  }

  stop(): void {
    this.#child.disconnect();
  }

  #ask(method: Asked['method'], ...args: readonly unknown[]): Promise<unknown> {
    const id = ++this.#count;
    const waiting = Promise.withResolvers<unknown>();
    this.#asked.set(id, waiting);
    this.#child.send({ id, method, args } satisfies Asked);
    return waiting.promise;
  }
}
