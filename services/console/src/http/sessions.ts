import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import type { Clock } from '@sluice/platform';

const lifetimeMs = 12 * 3_600_000;
const maxSessions = 1000;

interface Session {
  /** The token that it was created with, encrypted with a key that follows from the id. */
  readonly token: Buffer;
  readonly expiresAt: number;
}

const [cipher, tagBytes] = ['aes-256-gcm', 16] as const;
/** A key encrypts one token. */
const nonce = Buffer.alloc(12);

/**
 * Browsers that have presented a token. Kept in memory, so that a restart ends all sessions. Only the browser has the id of a
 * session, so the memory of this process does not tell the token.
 */
export class Sessions {
  readonly #clock: Clock;
  /** By hash of the id, oldest first. */
  readonly #sessions = new Map<string, Session>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the id of a new session: 256 random bits. */
  create(token: string): string {
    const id = randomBytes(32).toString('base64url');
    const encryption = createCipheriv(cipher, keyOf(id), nonce);
    const encrypted = Buffer.concat([encryption.update(token, 'utf8'), encryption.final(), encryption.getAuthTag()]);
    this.#sessions.set(hashOf(id), { token: encrypted, expiresAt: this.#clock.now() + lifetimeMs });
    for (const oldest of this.#sessions.keys()) {
      if (this.#sessions.size <= maxSessions) break;
      this.#sessions.delete(oldest);
    }
    return id;
  }

  /** The token that the session was created with; undefined if there is no such session. */
  tokenOf(id: string): string | undefined {
    const session = this.#sessions.get(hashOf(id));
    if (session === undefined) return undefined;
    if (session.expiresAt <= this.#clock.now()) {
      this.#sessions.delete(hashOf(id));
      return undefined;
    }
    const decryption = createDecipheriv(cipher, keyOf(id), nonce).setAuthTag(session.token.subarray(-tagBytes));
    return Buffer.concat([decryption.update(session.token.subarray(0, -tagBytes)), decryption.final()]).toString(
      'utf8',
    );
  }
}

const hashOf = (id: string): string => createHash('sha256').update(id).digest('base64');
const keyOf = (id: string): Buffer => Buffer.from(hkdfSync('sha256', id, '', 'session of the console', 32));
