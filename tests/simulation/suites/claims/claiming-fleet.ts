import { StoredIdentities } from '@sluice/fleet/clusters';
import { MemoryDocument, type StoredDocument } from '@sluice/store';
import type { Server } from './address.ts';
import type { ModelledFleet } from './claim-model.ts';

export const clusterName = 'prod';
export const serverUrl = 'https://prod';

/** What the processes of a fleet share: its id and its pins, in a store that can fail and forget. */
export class ClaimingFleet implements ModelledFleet {
  readonly name: string;
  readonly holders = new Set<string>();
  pinned: string | undefined;
  /** Pins as they were once, oldest first. */
  readonly #former: (string | null)[] = [null];
  #isDown = false;
  #id: string | undefined;
  #document = new MemoryDocument();

  constructor(name: string) {
    this.name = name;
  }

  /** Keeps the id that the process knows, if the store has none. */
  async id(known: string): Promise<string> {
    this.#answer();
    this.#id ??= known;
    this.holders.add(`${this.name}/${this.#id}`);
    return this.#id;
  }

  get identities(): StoredIdentities {
    return new StoredIdentities(this.#pins);
  }

  setDown(isDown: boolean): void {
    this.#isDown = isDown;
  }

  /** The store loses everything, or goes back to pins that it had before. */
  async rollBack(chance: number): Promise<void> {
    this.#id = undefined;
    const former = this.#former[Math.floor(chance * this.#former.length)] ?? null;
    this.#document = new MemoryDocument();
    if (former !== null) await this.#document.replace(null, former);
    this.pinned = undefined;
  }

  /** An operator accepts the cluster. */
  async accept({ identity }: Server): Promise<void> {
    this.pinned = identity;
    const stored = new StoredIdentities(this.#document);
    await stored.accept(clusterName, { identity, server: serverUrl, authorities: [] });
  }

  get #pins(): StoredDocument {
    return {
      read: async () => {
        this.#answer();
        return this.#document.read();
      },
      replace: async (expected, next) => {
        this.#answer();
        this.#former.push(next);
        return this.#document.replace(expected, next);
      },
    };
  }

  #answer(): void {
    if (this.#isDown) throw new Error('injected: no answer from the store');
  }
}
