/**
 * A fleet with its own NATS and Redis, below one process that can be started, measured and stopped as a whole:
 * `fleet-program.ts [--wait] DIRECTORY KUBECONFIG [PROFILE_DIRECTORY] [ROLE...]`. Default: a process of each single role. With
 * `--wait`, it creates DIRECTORY/ready when NATS and Redis run, and starts the roles on SIGUSR2. SIGTERM stops it.
 */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Fleet, type Role, serversReady } from './fleet.ts';

const { values, positionals } = parseArgs({ options: { wait: { type: 'boolean' } }, allowPositionals: true });
const [directory, kubeconfig, profileDirectory = '', ...named] = positionals;
if (directory === undefined || kubeconfig === undefined)
  throw new Error('usage: fleet-program.ts [--wait] DIRECTORY KUBECONFIG [PROFILE_DIRECTORY] [ROLE...]');
const roles: readonly string[] = named.length > 0 ? named : ['watcher', 'reconciler', 'writer'];

let isStopped = false;
const stopped = once(process, 'SIGTERM').then(() => {
  isStopped = true;
});
const mayStart = values.wait ? once(process, 'SIGUSR2') : undefined;
const fleet = await Fleet.start({ directory, kubeconfig, ...(profileDirectory !== '' && { profileDirectory }) });
if (mayStart !== undefined) writeFileSync(join(directory, serversReady), '');
await Promise.race([mayStart, stopped]);
if (!isStopped) await Promise.all(roles.map((role) => fleet.run(role as Role)));
await stopped;
await fleet.stop();
