/**
 * A fleet of one process per role with its own NATS and Redis, below one process that can be started, measured and
 * stopped as a whole: `fleet-program.ts DIRECTORY KUBECONFIG [PROFILE_DIRECTORY]`. SIGTERM stops it.
 */
import { Fleet } from './fleet.ts';

const [directory, kubeconfig, profileDirectory] = process.argv.slice(2);
if (directory === undefined || kubeconfig === undefined)
  throw new Error('usage: fleet-program.ts DIRECTORY KUBECONFIG [PROFILE_DIRECTORY]');

const stopped = new Promise((resolve) => process.once('SIGTERM', resolve));
const fleet = await Fleet.start({ directory, kubeconfig, ...(profileDirectory !== undefined && { profileDirectory }) });
await Promise.all((['watcher', 'reconciler', 'writer'] as const).map((role) => fleet.run(role)));
await stopped;
await fleet.stop();
