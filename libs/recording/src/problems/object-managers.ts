import type { Message } from '@sluice/messages';

/** Another field manager than before has written an object. */
export interface ManagerChange {
  /** KIND/NAME: `slice/web-5d9`. */
  readonly object: string;
  readonly before: string;
  readonly after: string;
}

const none: readonly ManagerChange[] = [];

/** Follows who writes the slices and Endpoints of each Service. */
export class ObjectManagers {
  /** By Service and object. */
  readonly #managers = new Map<string, Map<string, string>>();

  observe(key: string, message: Message): readonly ManagerChange[] {
    if (message.kind !== 'change') return none;
    const changes: ManagerChange[] = [];
    const known = this.#managers.get(key) ?? new Map<string, string>();
    for (const fact of message.facts) {
      if (fact.kind !== 'slice' && fact.kind !== 'endpoints') continue;
      const object = fact.kind === 'slice' ? `slice/${fact.name}` : 'endpoints';
      const exists = (fact.kind === 'slice' ? fact.slice : fact.endpoints) !== null;
      const { manager } = fact;
      if (!exists) known.delete(object);
      // A snapshot names no manager.
      if (!exists || manager === undefined) continue;
      const before = known.get(object);
      known.set(object, manager);
      if (before !== undefined && before !== manager) changes.push({ object, before, after: manager });
    }
    if (known.size === 0) this.#managers.delete(key);
    else this.#managers.set(key, known);
    return changes;
  }

  remove(key: string): void {
    this.#managers.delete(key);
  }
}
