import type { Cancel, Clock } from '@sluice/platform';

/**
 * Shortest time between heartbeats that only declare more scopes, in milliseconds. A process adds many of them at its start,
 * and all members read the whole group after each heartbeat, so the time is as many milliseconds as there are scopes.
 */
const minPeriodMs = 50;

/** The scopes that a member serves now, of a group whose members may serve different ones. */
export class ServedScopes {
  readonly #clock: Clock;
  readonly #wake: () => void;
  readonly #scopes = new Set<string>();
  #list: readonly string[] = [];
  #sentAt = Number.NEGATIVE_INFINITY;
  #cancel: Cancel | undefined;
  #changed = Promise.withResolvers<void>();
  /** Increases when a scope is added or removed. */
  revision = 0;
  /** The member has left its group. */
  ended = false;

  /** `wake`: sends the next heartbeat. */
  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  has(scope: string): boolean {
    return this.#scopes.has(scope);
  }

  add(scope: string): void {
    this.#scopes.add(scope);
    this.#update();
    if (this.ended || this.#cancel !== undefined) return;
    const waitMs = Math.max(0, this.#sentAt + Math.max(minPeriodMs, this.#scopes.size) - this.#clock.monotonic());
    this.#cancel = this.#clock.schedule(waitMs, () => {
      this.#cancel = undefined;
      this.#wake();
    });
  }

  remove(scope: string): void {
    this.#scopes.delete(scope);
    this.#update();
  }

  /** All scopes, for a heartbeat that is sent now; the same array until one is added or removed. */
  sent(): readonly string[] {
    // A heartbeat that declares nothing delays no other: the first scope of a process is declared at once.
    if (this.#list.length > 0) this.#sentAt = this.#clock.monotonic();
    return this.#list;
  }

  /** Resolves after the next `released`. */
  changed(): Promise<void> {
    return this.#changed.promise;
  }

  released(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  end(): void {
    this.ended = true;
    this.#cancel?.();
    this.released();
  }

  #update(): void {
    this.#list = [...this.#scopes];
    this.revision++;
  }
}
