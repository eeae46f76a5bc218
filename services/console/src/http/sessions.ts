import { randomBytes } from 'node:crypto';
import type { Clock } from '@sluice/runtime';

const lifetimeMs = 12 * 3_600_000;
const maxSessions = 1000;

/** Browsers that have presented the token. Kept in memory, so that a restart or another token ends all sessions. */
export class Sessions {
  readonly #clock: Clock;
  /** Session id → time of its expiry, oldest first. */
  readonly #expiries = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the id of a new session: 256 random bits. */
  create(): string {
    const id = randomBytes(32).toString('base64url');
    this.#expiries.set(id, this.#clock.now() + lifetimeMs);
    for (const oldest of this.#expiries.keys()) {
      if (this.#expiries.size <= maxSessions) break;
      this.#expiries.delete(oldest);
    }
    return id;
  }

  has(id: string): boolean {
    const expiry = this.#expiries.get(id);
    if (expiry === undefined) return false;
    if (expiry > this.#clock.now()) return true;
    this.#expiries.delete(id);
    return false;
  }
}
