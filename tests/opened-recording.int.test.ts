import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensureBinaries, freePorts, startKubeControllerManager } from '@sluice/local';
import { until } from '@sluice/platform/testing';
import { RecordingReader } from '@sluice/recording';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { accessibilityOf } from './harness/page/accessibility.ts';
import { startChromium } from './harness/page/chromium.ts';
import { openPage } from './harness/page/watched-page.ts';

const program = join(import.meta.dirname, '../bin/sluice');
let directory: string;
let programs: Awaited<ReturnType<typeof ensureBinaries>>;

/** Records a run on the simulated cluster. */
beforeAll(async () => {
  programs = await ensureBinaries();
  directory = mkdtempSync(join(tmpdir(), 'sluice-recorded-objects-'));
  const { run, address } = await start(
    ...['run', '--rate', '5', '-o', 'none', '--log-level', 'error', '--recording-dir', join(directory, 'recording')],
  );
  const text = async (...args: readonly string[]) =>
    (await promisify(execFile)(program, [...args, '--console', address]).catch(() => ({ stdout: '' }))).stdout;
  const lines = async (...args: readonly string[]) => (await text(...args)).split('\n').length;
  await until('there is some history', async () => (await lines('history', 'shop/cart')) > 60);
  // With the heading and the line feed at the end.
  for (const question of ['slow', 'flapping'])
    await until(`there are ${question}`, async () => (await lines(question)) > 2);
  // The page leaves out what the start of the watcher has ended.
  await until('there are outages', async () => (await text('outages')).includes(' added'));
  await stop(run);
});

afterAll(() => rmSync(directory, { recursive: true }));

async function start(...args: readonly string[]): Promise<{ readonly run: ChildProcess; readonly address: string }> {
  const [port = 0] = await freePorts(1);
  const address = `127.0.0.1:${port}`;
  const run = spawn(program, [...args, '--metrics-bind-address', address], { stdio: ['ignore', 'inherit', 'inherit'] });
  return { run, address: `http://${address}` };
}

async function stop(run: ChildProcess): Promise<void> {
  run.kill('SIGTERM');
  expect(await once(run, 'close')).toEqual([0, null]);
}

let opened = 0;

/** Opens the recording at a time, and returns the path of the kubeconfig. */
async function openAt(...args: readonly string[]): Promise<string> {
  const kubeconfig = join(directory, `kubeconfig-${opened++}`);
  const recording = join(directory, 'recording');
  const { run } = await start('open', recording, '--at', ...args, '--write-kubeconfig', kubeconfig);
  onTestFinished(async () => {
    await stop(run);
    expect(existsSync(kubeconfig)).toBe(false);
  });
  await expect.poll(() => existsSync(kubeconfig)).toBe(true);
  return kubeconfig;
}

async function kubectl(kubeconfig: string, ...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)(programs.kubectl, ['--kubeconfig', kubeconfig, ...args])).stdout;
}

interface Item {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly labels?: Record<string, string> };
}

async function items(kubeconfig: string, ...args: readonly string[]): Promise<readonly Item[]> {
  const list = JSON.parse(await kubectl(kubeconfig, 'get', ...args, '-A', '-o', 'json')) as { readonly items: Item[] };
  return list.items;
}

test('kubectl reads the objects of the past, and cannot change them', async () => {
  const past = await openAt('1s ago');
  const services = await kubectl(past, 'get', 'services', '-A');
  expect(services).toMatch(/^shop +cart +ClusterIP +10\.96\.\d+\.\d+ +<none> +80\/TCP/m);
  expect(await kubectl(past, 'get', 'pods', '-n', 'shop', '-l', 'app=cart')).toMatch(/^cart-\S+ +[01]\/1 +Running/m);
  expect(await kubectl(past, 'describe', 'service', 'cart', '-n', 'shop')).toMatch(/^Endpoints: +10\.244/m);
  expect(await kubectl(past, 'get', 'pods', '-n', 'shop', '-o', 'yaml')).toContain(
    'sluice.io/recorded: labels of selectors',
  );
  await expect(kubectl(past, 'delete', 'service', 'cart', '-n', 'shop')).rejects.toThrow(
    'services "cart" is forbidden: a recording cannot be changed',
  );
});

test('kubectl watches a recording that plays', async () => {
  const reader = new RecordingReader(join(directory, 'recording'));
  const [{ from, to } = expect.unreachable()] = reader.coverage().periods;
  reader.close();
  const past = await openAt(new Date((from + to) / 2).toISOString(), '--speed', '0.5');
  const arguments_ = ['--kubeconfig', past, 'get', 'endpointslices', '-A', '--watch-only', '-o', 'name'];
  const watch = spawn(programs.kubectl, arguments_, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void watch.kill());
  const [first] = (await once(watch.stdout, 'data')) as [Buffer];
  expect(first.toString()).toMatch(/^endpointslice\.discovery\.k8s\.io\//);
});

/** Names of Services for which Sluice had written everything when the recording ended. */
function settledServices(): readonly string[] {
  const reader = new RecordingReader(join(directory, 'recording'));
  onTestFinished(() => reader.close());
  const to = reader.coverage().periods.at(-1)?.to ?? 0;
  const query = { from: 0, to, keys: '%', atLeastMs: 0, isOpen: true, isStartKnown: false, limit: 1_000 };
  const open = new Set(reader.propagations({ ...query, sort: 'latest' }).propagations.map(({ key }) => key));
  const isQuiet = (key: string) =>
    reader
      .records(key, { since: to, until: to, records: 1 })
      .records.every(({ receivedAt }) => receivedAt < to - 2_000);
  return reader
    .servicesAt(to)
    .filter((key) => !open.has(key) && isQuiet(key))
    .map((key) => key.split('/')[2] ?? '');
}

test('kube-controller-manager finds nothing to change in what Sluice has written', async () => {
  const past = await openAt('0s ago', '--allow-writes');
  // The CPU of Nodes is not recorded, on which topology hints depend.
  const hinted = (await items(past, 'services')).filter((service) => JSON.stringify(service).includes('topology-mode'));
  const settled = settledServices().filter((name) => !hinted.some(({ metadata }) => metadata.name === name));
  const compared = new Set(settled.filter((name) => name !== 'cart'));
  // How many are quiet at the end depends on the load.
  expect(compared.size).toBeGreaterThan(0);
  const written = async () => {
    const objects = [...(await items(past, 'endpointslices')), ...(await items(past, 'endpoints'))];
    return objects.filter(({ metadata }) =>
      compared.has(metadata.labels?.['kubernetes.io/service-name'] ?? metadata.name),
    );
  };
  const before = await written();
  await kubectl(past, 'delete', 'endpointslices', '-n', 'shop', '-l', 'kubernetes.io/service-name=cart');
  const kubeControllerManager = await startKubeControllerManager(
    { directory, kubeconfigs: { 'kube-controller-manager': past } },
    { args: ['--kube-api-content-type=application/json'] },
  );
  onTestFinished(() => kubeControllerManager.stop());
  // By then it has synced the others, which are in its queue as well.
  const ofCart = ['endpointslices', '-l', 'kubernetes.io/service-name=cart'];
  await expect.poll(async () => (await items(past, ...ofCart)).length).toBe(1);
  await expect.poll(async () => (await kubectl(past, 'get', 'events', '-A')).length).toBeGreaterThan(0);
  expect(await written()).toEqual(before);
});

test('a part of it is exported for somebody else', async () => {
  const part = join(directory, 'part');
  const flags = ['-n', 'shop', '--service', 'cart', '--since', '3s'];
  const { stdout } = await promisify(execFile)(program, [
    ...['record', 'export', join(directory, 'recording'), part, ...flags],
  ]);
  expect(stdout).toMatch(/^exported \d+ records of 1 Services to /);
  const reader = new RecordingReader(part);
  onTestFinished(() => reader.close());
  const [{ from, to } = expect.unreachable()] = reader.coverage().periods;
  // Times of questions are whole milliseconds.
  expect(to - from).toBeCloseTo(3_000, -1);
  expect(reader.servicesAt(to)).toEqual([expect.stringMatching(/\/shop\/cart$/)]);
});

describe('the page of a recording', () => {
  let browser: Browser;
  let run: ChildProcess;
  let url: string;

  beforeAll(async () => {
    browser = await startChromium();
    ({ run, address: url } = await start('open', join(directory, 'recording')));
    await until('it is served', async () => (await fetch(url).catch(() => undefined))?.ok === true);
  });
  afterAll(async () => {
    await browser.close();
    await stop(run);
  });

  const questions = [
    ['Outages', '.belts li a.name', 'light'],
    ['Stuck', 'td a.name, .notice', 'dark'],
    ['Slow', 'td a.name', 'light'],
    ['Flapping', 'td a.name', 'dark'],
    ['Drain', 'td a.name, .notice', 'light'],
    ['Node', 'td a.name, .notice', 'dark'],
  ] as const;

  test.each(questions)('answers: %s', async (question, row, theme) => {
    const { page, errors } = await openPage(browser, url);
    onTestFinished(() => page.context().close());
    await page.getByRole('link', { name: 'Recording' }).click();
    await page.getByRole('navigation', { name: 'questions' }).getByRole('link', { name: question }).click();
    await expect.poll(() => page.title()).toBe(`${question} · Sluice`);
    await page.locator(row).first().waitFor();
    await page.getByText('A recording, which ends at').waitFor();
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await page.getByRole('combobox', { name: 'period' }).selectOption('all');
    await expect.poll(() => new URL(page.url()).search).toBe('?period=all');
    expect(errors).toEqual([]);
    expect(await accessibilityOf(browser, `${url}/recording/${question.toLowerCase()}`, row, theme)).toEqual([]);
  });

  test('leads from an outage to the Service at that time', async () => {
    const { page } = await openPage(browser, `${url}/recording/outages?period=all`);
    onTestFinished(() => page.context().close());
    await page.locator('.belt a').first().click();
    await expect.poll(() => page.title()).toMatch(/^\S+\/\S+ at .* · Sluice$/);
  });

  test('shows the Pods of a Service over time, as sluice rollout does', async () => {
    const { page } = await openPage(browser, url);
    onTestFinished(() => page.context().close());
    await page.locator('.row.entry', { hasText: 'shop/cart' }).click();
    await page.locator('.pod-belts .belt .ready').first().waitFor();
    await page.locator('.pod-belts .belt .ready').first().click();
    await expect.poll(() => page.title()).toMatch(/^shop\/cart at .* · Sluice$/);
    const { stdout } = await promisify(execFile)(program, ['rollout', 'shop/cart', '--console', url]);
    expect(stdout).toMatch(/^ {2}cart-\S+ +█/m);
  });
});
