import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ServerProcess } from '@sluice/local';
import { say } from '@sluice/program';

const PROGRAM = fileURLToPath(new URL('../../../bin/sluice', import.meta.url));

/** `sluice run` on all clusters of a directory of kubeconfigs, with its log beside it. */
export async function runOn(kubeconfigs: string, log: string): Promise<ServerProcess> {
  const flags = ['--output', 'none', '--log-level', 'warn', '--metrics-bind-address', '0'];
  const child = new ServerProcess({
    name: 'sluice',
    program: PROGRAM,
    args: ['run', '--kubeconfig', kubeconfigs, ...flags],
    log: join(log, 'sluice.log'),
  });
  await child.start();
  return child;
}

/**
 * Waits until no cluster is incomplete: all Pods of all Services are in its slices. Says twice a minute how many are left.
 *
 * @throws Error with the number of incomplete clusters after `timeoutSeconds`
 */
export async function completed(incomplete: () => Promise<number>, timeoutSeconds: number): Promise<void> {
  const startedAt = performance.now();
  let saidAt = startedAt;
  for (;;) {
    const left = await incomplete();
    if (left === 0) return;
    const now = performance.now();
    if (now - saidAt > 30_000) {
      saidAt = now;
      say(`${left} clusters are not complete after ${Math.round((now - startedAt) / 1000)} s`);
    }
    if (now - startedAt > timeoutSeconds * 1000) {
      throw new Error(`after ${timeoutSeconds} s, ${left} clusters are not complete`);
    }
    await sleep(50);
  }
}
