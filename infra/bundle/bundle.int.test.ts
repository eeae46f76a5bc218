import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bundle } from './bundle.ts';

const root = join(import.meta.dirname, '..', '..');
const sources = join(root, 'services/sluice/src/main.ts');
let folder: string;
let program: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-bundle-'));
  program = join(folder, 'main.js');
  await bundle({ entry: sources, directory: folder });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const helpOf = async (main: string, ...command: string[]) =>
  (await promisify(execFile)(process.execPath, [main, ...command, '--help'])).stdout;

test.each([[[]], [['run']], [['watcher']], [['doctor']], [['replay']]])(
  '%j --help says what the sources say',
  async (command) => {
    expect(await helpOf(program, ...command)).toBe(await helpOf(sources, ...command));
  },
);

test('what lies beside the sources is found: the page, its scripts, the schemas', async () => {
  const child = spawn(process.execPath, [program, 'run', '--output', 'json', '--metrics-bind-address', '127.0.0.1:0']);
  try {
    const address = await pageOf(child);
    const page = await fetch(address);
    expect(await page.text()).toContain('<title>');
    const [script] = /(?<=src=")[^"]+/.exec(await (await fetch(address)).text()) ?? [];
    expect((await fetch(new URL(script ?? 'no-script', address))).status).toBe(200);
    expect((await fetch(new URL('/api/v1/services', address))).status).toBe(200);
  } finally {
    child.kill();
  }
});

async function pageOf(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('it has no output');
  for await (const line of createInterface(child.stdout)) {
    const [address] = /(?<=Look at it: )http[^"]+/.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error('it told no address');
}

test('of Node’s own modules it brings those that it uses, and not what others of their exports need', async () => {
  const entry = join(folder, 'entry.ts');
  writeFileSync(
    entry,
    `import http, { createServer } from 'node:http';
    import * as path from 'node:path';
    import { promises } from 'node:fs';
    const same = http.createServer === createServer && path.join('a', 'b') === path.default.join('a', 'b');
    const undici = process.moduleLoadList.some((name) => name.endsWith('deps/undici/undici'));
    console.log(JSON.stringify({ same, undici, read: typeof promises.readFile }));`,
  );
  await bundle({ entry, directory: join(folder, 'small') });
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'small', 'main.js')]);
  expect(JSON.parse(stdout)).toEqual({ same: true, undici: false, read: 'function' });
});

describe('the code of what was called is kept', () => {
  const long = Array.from({ length: 500 }, (_, i) => `sum += sum * ${i};`).join('\n');
  let directory: string;
  const run = async (...args: string[]) =>
    (await promisify(execFile)(process.execPath, [join(directory, 'main.js'), ...args])).stdout;
  const kept = () => readdirSync(directory).filter((name) => name.endsWith('.code'));

  beforeEach(async () => {
    directory = mkdtempSync(join(folder, 'called-'));
    const entry = join(directory, 'entry.ts');
    const lines = ['function long(sum: number) {', long, 'return sum;', '}', 'export {};'];
    writeFileSync(entry, `${lines.join('\n')}\nif (process.argv[2] === 'call') console.log(long(1) > 0);`);
    await bundle({ entry, directory });
  });

  const size = (name: string | undefined) => readFileSync(join(directory, name ?? 'none')).length;

  test('at the end of the first run, and not anew', async () => {
    expect(kept()).toEqual([]);
    expect(await run('call')).toBe('true\n');
    const [name] = kept();
    const withIt = size(name);
    rmSync(join(directory, name ?? 'none'));
    await run();
    expect(withIt).toBeGreaterThan(size(name) + 1000);
    const before = size(name);
    expect(await run('call')).toBe('true\n');
    expect([kept(), size(name)]).toEqual([[name], before]);
  });

  test('and not used if it is anything else', async () => {
    await run('call');
    const [name = 'none'] = kept();
    for (const text of ['', 'something else']) {
      writeFileSync(join(directory, name), text);
      expect(await run('call')).toBe('true\n');
    }
  });

  test('a program that does not run says where', async () => {
    const entry = join(directory, 'throws.ts');
    writeFileSync(entry, 'export {};\nfunction fails() {\n  throw new Error("no luck");\n}\nfails();');
    await bundle({ entry, directory });
    await expect(run()).rejects.toThrow(/at fails \(.*throws-.*\.cjs:\d+:\d+\)/);
  });
});

test('what were modules is strict, as they are', async () => {
  const entry = join(folder, 'strict.ts');
  writeFileSync(entry, 'export {};\nObject.freeze(globalThis.process.versions).node = "other";');
  await bundle({ entry, directory: join(folder, 'strict') });
  const run = promisify(execFile)(process.execPath, [join(folder, 'strict', 'main.js')]);
  await expect(run).rejects.toThrow(/TypeError: Cannot assign to read only property/);
});

test('an image holds what its entry point needs to run the bundle', async () => {
  const images = join(root, 'infra/images');
  const [, entry = '[]'] = /^ENTRYPOINT (.*)$/m.exec(readFileSync(join(images, 'Dockerfile'), 'utf8')) ?? [];
  const [start = '', ...given] = JSON.parse(entry) as string[];
  expect(given).toEqual(['node']);
  const image = join(folder, 'image');
  const lines = readFileSync(join(images, 'Dockerfile.dockerignore'), 'utf8').split('\n');
  for (const name of lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))) {
    const filter = (file: string) => !/(?:\/node_modules|\.test\.ts)$/.test(file);
    cpSync(join(root, name), join(image, name), { recursive: true, filter });
  }
  await bundle({ entry: sources, directory: join(image, '.cache/program') });
  const now = new Date();
  utimesSync(join(image, '.cache/program/main.js'), now, now);
  // Without packages, which are not there, its sources would not run.
  const run = promisify(execFile)(join(image, start.replace('/sluice/', '')), [process.execPath, 'run', '--help']);
  expect((await run).stdout).toBe(await helpOf(sources, 'run'));
});

describe('a bundle is fresh', () => {
  let checkout: string;
  const old = new Date('2020-01-01T00:00:00Z');
  const folders = [
    'libs/a',
    'services/b',
    'fake-apiserver',
    'demo',
    'infra/local/src',
    'infra/bundle',
    '.cache/program',
  ];

  beforeAll(() => {
    checkout = join(folder, 'checkout');
    for (const name of folders) mkdirSync(join(checkout, name), { recursive: true });
    cpSync(join(import.meta.dirname, 'is-fresh'), join(checkout, 'infra/bundle/is-fresh'));
    const files = ['pnpm-lock.yaml', 'libs/a/a.ts', 'libs/a/gone.ts', 'services/b/b.ts', '.cache/program/main.js'];
    for (const name of files) writeFileSync(join(checkout, name), '');
    for (const name of [...files, ...folders, 'infra/bundle/is-fresh', 'libs', 'services'])
      utimesSync(join(checkout, name), old, old);
  });

  const isFresh = () => {
    try {
      execFileSync(join(checkout, 'infra/bundle/is-fresh'));
      return true;
    } catch {
      return false;
    }
  };
  const undo = (...names: string[]) => {
    for (const name of names) utimesSync(join(checkout, name), old, old);
  };

  test('while nothing is newer', () => {
    expect(isFresh()).toBe(true);
  });

  test.each(['libs/a/a.ts', 'services/b/b.ts', 'pnpm-lock.yaml'])('until %s changes', (name) => {
    writeFileSync(join(checkout, name), 'changed');
    expect(isFresh()).toBe(false);
    undo(name);
    expect(isFresh()).toBe(true);
  });

  test('until a file comes, or goes', () => {
    writeFileSync(join(checkout, 'libs/a/new.ts'), '');
    undo('libs/a/new.ts');
    expect(isFresh()).toBe(false);
    undo('libs/a');
    expect(isFresh()).toBe(true);
    rmSync(join(checkout, 'libs/a/gone.ts'));
    expect(isFresh()).toBe(false);
    undo('libs/a');
  });

  test('not if there is none', () => {
    rmSync(join(checkout, '.cache/program/main.js'));
    expect(isFresh()).toBe(false);
  });
});
