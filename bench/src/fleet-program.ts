/**
 * A fleet with its own NATS and Redis, below one process that can be started, measured and stopped as a whole:
 * `fleet-program.ts DIRECTORY KUBECONFIG [PROFILE_DIRECTORY] [ROLE...]`. Default: a process of each single role. SIGTERM stops it.
 */
import { Fleet, type Role } from './fleet.ts';

const [directory, kubeconfig, profileDirectory = '', ...named] = process.argv.slice(2);
if (directory === undefined || kubeconfig === undefined)
  throw new Error('usage: fleet-program.ts DIRECTORY KUBECONFIG [PROFILE_DIRECTORY] [ROLE...]');
const roles: readonly string[] = named.length > 0 ? named : ['watcher', 'reconciler', 'writer'];

const stopped = new Promise((resolve) => process.once('SIGTERM', resolve));
const fleet = await Fleet.start({ directory, kubeconfig, ...(profileDirectory !== '' && { profileDirectory }) });
await Promise.all(roles.map((role) => fleet.run(role as Role)));
await stopped;
await fleet.stop();
