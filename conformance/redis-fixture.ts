import { readFileSync } from 'node:fs';
import { startLeaseThread } from '@sluice/fleet/lease-thread';
import { silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { openRedis, type RedisOptions, type RedisPorts } from '@sluice/store/redis';

/**
 * The user of docs/guides/redis.md. Tests run with exactly its permissions, on fleets whose names begin with `sluice`.
 */
export const SLUICE_USER = 'sluice';
export const SLUICE_PASSWORD = 'p@ss/word:1';

export function documentedRights(): string {
  const page = readFileSync(new URL('../docs/guides/redis.md', import.meta.url), 'utf8');
  const [, rights] = /^ACL SETUSER sluice on >PASSWORD (.*)$/m.exec(page) ?? [];
  if (rights === undefined) throw new Error('docs/guides/redis.md has no line "ACL SETUSER sluice on >PASSWORD …"');
  return `on >${SLUICE_PASSWORD} ${rights.replaceAll('{sluice:*', '{sluice*')}`;
}

/** Connections to one Redis, each with a new fleet name by default. */
export class Connections {
  readonly #options: Omit<RedisOptions, 'fleet'>;
  readonly #open: RedisPorts[] = [];
  #fleets = 0;

  constructor(options: Omit<RedisOptions, 'fleet'>) {
    this.#options = options;
  }

  async open(options: Partial<RedisOptions> = {}): Promise<RedisPorts> {
    const fleet = `sluice-${process.pid}-${++this.#fleets}`;
    const ports = await openRedis(
      { fleet, ...this.#options, ...options },
      { clock: systemClock, logger: silentLogger, startLeaseThread },
    );
    this.#open.push(ports);
    return ports;
  }

  close(): void {
    for (const ports of this.#open.splice(0)) ports.close();
  }
}
