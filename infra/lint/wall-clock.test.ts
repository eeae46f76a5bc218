import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const inATest = (statement: string) => `test('x', async () => {\n  ${statement}\n});\n`;

const reported: readonly (readonly [string, string, string])[] = [
  ['a limit of its own', inATest('await expect.poll(read, { timeout: 5_000 }).toBe(1);'), 'limit of expect.poll'],
  ['limits in a constant', inATest('await expect.poll(read, patiently).toBe(1);'), 'limit of expect.poll'],
  ['a limit on several lines', inATest('await expect\n.poll(() => 1, { timeout })\n.toBe(1);'), 'limit of expect.poll'],
  ['a limit of a test', "test('x', run, 60_000);", 'limits of tests and hooks'],
  ['a limit among options', "it('x', { timeout: 60_000 }, run);", 'limits of tests and hooks'],
  ['a limit of tests', "test.each([1])('x', run, limitMs);", 'limits of tests and hooks'],
  ['a limit of a hook', 'beforeAll(run, 60_000);', 'limits of tests and hooks'],
  ['vi.waitFor', inATest('await vi.waitFor(check, { timeout: 60_000 });'), 'Use expect.poll'],
  ['vi.waitUntil', inATest('await vi.waitUntil(check);'), 'Use expect.poll'],
  ['a sleep of the system clock', inATest('await sleep(systemClock, 100);'), 'Wait for a condition'],
  ['a timer', inATest('await new Promise((resolve) => setTimeout(resolve, 100));'), 'Wait for a condition'],
  ['an imported timer', "import { setTimeout as sleep } from 'node:timers/promises';", 'Wait for a condition'],
  ['a measured time', inATest('expect(performance.now() - startedAt).toBeLessThan(100);'), 'measure durations'],
  ['a measured time of the system clock', inATest('const ms = systemClock.monotonic() - since;'), 'measure durations'],
  ['memory', inATest('expect(process.memoryUsage().rss).toBeLessThan(1e9);'), 'measure memory'],
  ['collections', 'new PerformanceObserver((list) => count(list));', 'measure memory'],
  ['delays of the event loop', 'const delay = monitorEventLoopDelay({ resolution: 1 });', 'measure memory'],
  ['random numbers without a seed', 'const ready = Math.random() < 0.5;', 'seededRandom'],
];

const accepted: readonly (readonly [string, string])[] = [
  ['expect.poll', inATest('await expect.poll(read, { interval: 500 }).toBe(1);')],
  ['a virtual clock', inATest('await sleep(clock, 100);')],
  ['a time stamp', inATest('const at = Date.now() - 60_000;')],
  ['options of a test', "it('x', { retry: 0 }, run);"],
  ['a suppression with a reason', '// biome-ignore lint/plugin: paces the load\nsetTimeout(change, 100);'],
];

const places: readonly (readonly [string, number])[] = [
  ['tests/harness/x.ts', 1],
  ['conformance/x-contract.ts', 1],
  ['libs/x/src/testing/x.ts', 1],
  ['libs/x/src/x.ts', 0],
];

const pathOf = (title: string) => `libs/x/src/${title.replaceAll(/\W/g, '-')}.test.ts`;
const files = new Map([
  ...[...reported, ...accepted].map(([title, content]) => [pathOf(title), content] as const),
  ...places.map(([path]) => [path, 'await sleep(systemClock, 100);'] as const),
]);

let directory: string;
/** By path. */
const messages = new Map<string, string[]>();

/** Runs Biome with the configuration of this repository on files in another directory. */
beforeAll(() => {
  const root = join(import.meta.dirname, '../..');
  directory = mkdtempSync(join(tmpdir(), 'sluice-lint-'));
  cpSync(import.meta.dirname, join(directory, 'infra/lint'), { recursive: true });
  const { vcs: _, ...configuration } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8'));
  writeFileSync(join(directory, 'biome.json'), JSON.stringify(configuration));
  for (const [path, content] of files) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
  const args = ['lint', ...files.keys(), '--reporter=json', '--max-diagnostics=none'];
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/biome'), args, { cwd: directory, encoding: 'utf8' });
  const { diagnostics } = JSON.parse(stdout) as { readonly diagnostics: readonly Diagnostic[] };
  for (const { category, message, location } of diagnostics) {
    if (category === 'plugin') messages.set(location.path, [...(messages.get(location.path) ?? []), message]);
  }
});

interface Diagnostic {
  readonly category: string;
  readonly message: string;
  readonly location: { readonly path: string };
}

afterAll(() => rmSync(directory, { recursive: true }));

test.each(reported)('reports %s', (title, _, message) => {
  expect(messages.get(pathOf(title))).toEqual([expect.stringContaining(message)]);
});

test.each(accepted)('accepts %s', (title) => {
  expect(messages.get(pathOf(title))).toBeUndefined();
});

test.each(places)('in %s: %d', (path, count) => {
  expect(messages.get(path) ?? []).toHaveLength(count);
});
