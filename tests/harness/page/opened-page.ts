import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePorts } from '@sluice/local';
import { until } from '@sluice/platform/testing';

const program = join(import.meta.dirname, '../../../bin/sluice');

/** The page of a recording, as `sluice open` serves it. */
export async function openRecordingPage(
  directory: string,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const [port = 0] = await freePorts(1);
  const address = `127.0.0.1:${port}`;
  const run: ChildProcess = spawn(program, ['open', directory, '--metrics-bind-address', address], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(run, 'close');
  const url = `http://${address}`;
  await until('it is served', async () => {
    if (run.exitCode !== null) throw new Error(`sluice open ended with status ${run.exitCode}`);
    return (await fetch(url).catch(() => undefined))?.ok === true;
  });
  return {
    url,
    async stop() {
      run.kill('SIGTERM');
      await ended;
    },
  };
}
