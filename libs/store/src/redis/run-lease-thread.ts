import { type Clock, loggerOf } from '@sluice/platform';
import { connect, createClient, logConnection } from './client.ts';
import { LeaseRenewer } from './lease-renewer.ts';
import type { LeaseThreadLine, LeaseThreadMessage, LeaseThreadRequest } from './lease-thread.ts';
import { withTimeout } from './redis-error.ts';
import { leasesTimeoutMs } from './redis-leases.ts';
import type { RedisOptions, RedisSecrets } from './redis-options.ts';
import { groupKeys, Script } from './script.ts';

interface LeaseThreadPorts {
  readonly clock: Clock;
  readonly send: (message: LeaseThreadMessage) => void;
}

const renewScript = new Script(['alive-until', 'renew'], ['allow-oom']);

/** Renews leases in a separate thread over its own connection. Returns the handler for the client's requests. */
export function runLeaseThread(
  redis: RedisOptions,
  { clock, send }: LeaseThreadPorts,
): (request: LeaseThreadRequest) => void {
  const log = (line: LeaseThreadLine) => send({ kind: 'log', line });
  const logger = loggerOf((level, message, fields) => log({ level, message, fields }));
  let current: RedisSecrets = redis;
  const secrets = () => {
    send({ kind: 'reconnecting' });
    return current;
  };
  const client = createClient(redis, { commandTimeoutMs: leasesTimeoutMs, offlineQueue: false, secrets });
  // The main thread connects at the same time and reports why it cannot.
  client.once('ready', () => logConnection(client, 'lease renewal', logger));
  client.on('ready', () => send({ kind: 'ready' }));
  // It keeps retrying, and reports through its events.
  connect(client, clock, leasesTimeoutMs).catch(() => {});
  const renewer = new LeaseRenewer({
    clock,
    log,
    async renew({ group, member, ttlMs }, leases) {
      const answer = renewScript.run(client, groupKeys(redis.fleet, group), [member, ttlMs, ...leases.flat()]);
      return (await withTimeout({ clock, commandTimeoutMs: ttlMs }, `renewal by ${member} in ${group}`, answer)) === 1;
    },
  });
  return (request) => {
    if (request.kind === 'secrets') current = request.secrets;
    else renewer.handle(request);
  };
}
