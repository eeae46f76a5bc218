import { randomBytes } from 'node:crypto';
import type { Clock } from '@sluice/platform';

const lifetimeMs = 12 * 3_600_000;
const maxSessions = 1000;

interface Session {
  /** The token that it was created with. */
  readonly token: string;
  readonly expiresAt: number;
}

/** Browsers that have presented the token. Kept in memory, so that a restart or another token ends all sessions. */
export class Sessions {
  readonly #clock: Clock;
  /** By id, oldest first. */
  readonly #sessions = new Map<string, Session>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the id of a new session: 256 random bits. */
  create(token: string): string {
    const id = randomBytes(32).toString('base64url');
    this.#sessions.set(id, { token, expiresAt: this.#clock.now() + lifetimeMs });
    for (const oldest of this.#sessions.keys()) {
      if (this.#sessions.size <= maxSessions) break;
      this.#sessions.delete(oldest);
    }
    return id;
  }

  /** Whether the session exists and was created with this token. */
  has(id: string, token: string): boolean {
    const session = this.#sessions.get(id);
    if (session === undefined) return false;
    if (session.expiresAt > this.#clock.now() && session.token === token) return true;
    this.#sessions.delete(id);
    return false;
  }
}
