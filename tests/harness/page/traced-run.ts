import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RecentChange, TraceView } from '@sluice/console';
import { freePorts, startJaeger } from '@sluice/local';

/** The same seed has the same cluster. */
const seed = 7;
const warmUpMs = 40_000;
const program = join(import.meta.dirname, '../../../services/sluice/src/main.ts');

/** The URL of a trace on the page of the simulated cluster after a while; a real Jaeger has the traces. */
export async function withTrace(directory: string, use: (url: string) => Promise<void>): Promise<void> {
  const [port = 0] = await freePorts(1);
  const jaeger = await startJaeger({ directory });
  const flags = ['--output=none', '--log-level=error', `--metrics-bind-address=127.0.0.1:${port}`];
  const tracing = [`--otlp-endpoint=${jaeger.otlpUrl}`, '--trace-ratio=1', `--jaeger-query-url=${jaeger.queryUrl}`];
  const run = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', program, 'run', `--seed=${seed}`, '--rate=5', ...flags, ...tracing],
    { stdio: 'inherit' },
  );
  const ended = once(run, 'exit');
  try {
    const early = ended.then(() => Promise.reject(new Error('sluice ended early')));
    await Promise.race([sleep(warmUpMs), early]);
    const url = `http://127.0.0.1:${port}`;
    await use(`${url}/traces/${await richestTrace(url)}`);
  } finally {
    run.kill('SIGTERM');
    await ended;
    await jaeger.stop();
  }
}

/** Id of the recent trace with the most spans, preferably of a Pod. */
async function richestTrace(url: string): Promise<string> {
  const { items } = (await (await fetch(`${url}/api/v1/changes?limit=100`)).json()) as {
    readonly items: readonly RecentChange[];
  };
  const ids = new Set(
    items.flatMap(({ traceparent }) => (traceparent === undefined ? [] : [traceparent.slice(3, 35)])),
  );
  const answers = await Promise.all([...ids].map((id) => fetch(`${url}/api/v1/traces/${id}`)));
  const traces = await Promise.all(answers.filter(({ ok }) => ok).map((answer) => answer.json() as Promise<TraceView>));
  const isOfPod = ({ cause }: TraceView) => Number(cause?.startsWith('Pod ') ?? false);
  const [richest] = traces.toSorted((a, b) => isOfPod(b) - isOfPod(a) || b.spans.length - a.spans.length);
  if (richest === undefined) throw new Error('Jaeger has none of the last traces');
  return richest.traceId;
}
