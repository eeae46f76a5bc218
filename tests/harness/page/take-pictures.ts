import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { RecentChange, ServiceList, TraceView } from '@sluice/console';
import { freePorts, startJaeger } from '@sluice/local';
import type { Page } from 'playwright-core';
import { startChromium } from './chromium.ts';

/**
 * Takes the screenshots of the docs: the simulated cluster with one seed after a while, and the trace of one change from a
 * real Jaeger.
 */
const seed = 7;
const warmUpMs = 40_000;

const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = join(root, 'docs', 'images');

const [port, busyPort] = await freePorts(2);
const url = `http://127.0.0.1:${port}`;
const directory = await mkdtemp(join(tmpdir(), 'sluice-pictures-'));
const jaeger = await startJaeger({ directory });
const run = (port: number | undefined, ...args: readonly string[]) =>
  spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      join(root, 'services/sluice/src/main.ts'),
      'run',
      `--seed=${seed}`,
    ].concat(['--output=none', '--log-level=error', `--metrics-bind-address=127.0.0.1:${port}`, ...args]),
    { stdio: 'inherit' },
  );
const sluice = run(
  port,
  ...[`--otlp-endpoint=${jaeger.otlpUrl}`, '--trace-ratio=1', `--jaeger-query-url=${jaeger.queryUrl}`],
);
/** With outages. */
const busy = run(busyPort, '--rate=8', `--recording-dir=${join(directory, 'recording')}`);
try {
  await Promise.race([
    sleep(warmUpMs),
    Promise.race([once(sluice, 'exit'), once(busy, 'exit')]).then(() =>
      Promise.reject(new Error('sluice exited early')),
    ),
  ]);
  const browser = await startChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 1400, height: 800 }, colorScheme: 'dark' });
    await mkdir(folder, { recursive: true });
    await screenshot(page, '/', 'console-services', '.feed li');
    await screenshot(page, await pathOf('frontend'), 'console-timeline', '.timeline li.completed');
    await screenshot(page, `/traces/${await richestTrace()}`, 'console-trace', '.span.writer');
    await screenshot(page, '/recording/outages?period=all', 'console-outages', '.belts li', busyPort);
  } finally {
    await browser.close();
  }
} finally {
  for (const one of [sluice, busy]) {
    one.kill('SIGTERM');
    await once(one, 'exit');
  }
  await jaeger.stop();
  await rm(directory, { recursive: true, force: true });
}

async function screenshot(page: Page, path: string, name: string, shows: string, at = port): Promise<void> {
  await page.goto(`http://127.0.0.1:${at}${path}`);
  await page.locator(shows).first().waitFor();
  await page.locator('.live.on').waitFor();
  const file = join(folder, `${name}.png`);
  await page.screenshot({ path: file, animations: 'disabled' });
  console.info(file);
}

async function pathOf(service: string): Promise<string> {
  const { items } = (await (await fetch(`${url}/api/v1/services?q=${service}`)).json()) as ServiceList;
  const [found] = items;
  if (found === undefined) throw new Error(`the simulated cluster with seed ${seed} has no Service ${service}`);
  return `/services/${[found.cluster, found.namespace, found.name].map(encodeURIComponent).join('/')}`;
}

/** Id of the recent trace with the most spans, preferably of a Pod. */
async function richestTrace(): Promise<string> {
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
