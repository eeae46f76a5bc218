import type { Commit } from '@sluice/store';
import { normalized, storedField } from '../reference/known-service.ts';

/** Stored values that a fault has replaced by those of other Services. */
export class ReplacedValues {
  /** JSON by scope, then entry. */
  readonly #unread = new Map<string, Map<string, string>>();
  /** What the controllers remember because of them, by entry. */
  readonly #memories = new Map<string, object>();

  replaced(scope: string, entry: string, json: string): void {
    const unread = this.#unread.get(scope) ?? new Map<string, string>();
    this.#unread.set(scope, unread.set(entry, json));
    // The trigger times of a plan in flight are kept once it has been applied.
    const [key = '', field = ''] = entry.replace(/:after$/, ':triggers').split('\n');
    if (/^controller\/[a-z]+(?::triggers)?$/.test(field))
      this.#memories.set(`${key}\n${field}`, memoryOf(field, JSON.parse(json)));
  }

  /** The next owner has read the scope. */
  claimed(scope: string): void {
    this.#unread.delete(scope);
  }

  /** An owner that stores something else does not have it from there. */
  committed({ entries }: Commit): void {
    if (this.#memories.size === 0) return;
    for (const { key, field, value } of entries) {
      const name = `${key}\n${field}`;
      const memory = this.#memories.get(name);
      if (memory !== undefined && JSON.stringify(memory) !== JSON.stringify(memoryOf(field, value)))
        this.#memories.delete(name);
    }
  }

  /** Whether no owner has read the value since it was replaced, nor stored another one. */
  isUnread(scope: string, entry: string, json: string): boolean {
    return this.#unread.get(scope)?.get(entry) === json;
  }

  /**
   * The value of a field of a controller whose memory was replaced. No object of the cluster proves counts and trigger times wrong, so
   * an owner that has read them keeps them until its next decision.
   */
  remembered(key: string, field: string, value: unknown): unknown {
    const memory = this.#memories.get(`${key}\n${field}`);
    return memory === undefined ? value : normalized({ ...(value as object), ...memory });
  }
}

/** Of the value of a field of a controller, what only its next decision corrects. */
function memoryOf(field: string, value: unknown): object {
  const known = storedField(field, value) as { readonly counted?: unknown };
  return field.endsWith(':triggers') ? { service: undefined, pods: undefined, ...known } : { counted: known.counted };
}
