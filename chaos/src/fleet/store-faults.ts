import { rm } from 'node:fs/promises';
import type { StoreServers } from './store-servers.ts';

/** Data losses of the store. No other fault affects its servers meanwhile. */
export class StoreFaults {
  readonly #store: StoreServers;
  #snapshot: string | undefined;

  constructor(store: StoreServers) {
    this.#store = store;
  }

  wipe(): Promise<void> {
    return this.#restore(undefined);
  }

  /** Takes a snapshot to restore later. */
  async takeSnapshot(): Promise<void> {
    const old = this.#snapshot;
    this.#snapshot = await this.#newSnapshot();
    if (old !== undefined) await rm(old, { recursive: true, force: true });
  }

  async restoreSnapshot(): Promise<void> {
    this.#snapshot ??= await this.#newSnapshot();
    await this.#restore(this.#snapshot);
  }

  async #newSnapshot(): Promise<string> {
    return (await this.#store.master()).snapshot();
  }

  /** All at once: a server that keeps its data would give it to the others. */
  async #restore(snapshot: string | undefined): Promise<void> {
    const { nodes } = this.#store;
    await Promise.all(nodes.map(({ redis }) => redis.process.kill()));
    await Promise.all(nodes.map(({ redis }) => redis.restore(snapshot)));
  }
}
