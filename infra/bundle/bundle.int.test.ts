import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bundle, workerSources } from './bundle.ts';

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

test.each([[[]], [['run']], [['watcher']], [['doctor']]])(
  '%j --help prints the same from the bundle and the sources',
  async (command) => {
    expect(await helpOf(program, ...command)).toBe(await helpOf(sources, ...command));
  },
);

test('finds the files beside the sources: the page, its scripts, the schemas', async () => {
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
  if (child.stdout === null) throw new Error('the bundle has no standard output');
  for await (const line of createInterface(child.stdout)) {
    const [address] = /(?<=Console: )http[^" ]+/.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error('the bundle printed no console address');
}

test('loads the Node.js modules that it uses, without the dependencies of their unused exports', async () => {
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

test('consists of ASCII, which V8 keeps in one byte for each character', () => {
  const files = readdirSync(folder).filter((name) => /\.c?js$/.test(name));
  const code = files.map((name) => readFileSync(join(folder, name), 'latin1'));
  expect(files.filter((_, i) => /[^\0-\x7f]/.test(code[i] ?? ''))).toEqual([]);
  expect(code.join('')).toContain('\\u2192');
});

describe('credential plugins', () => {
  /** Prints the headers that each user of a kubeconfig sends. */
  const entry = () => {
    // A module also beside a bundle, whose scripts are CommonJS.
    const file = join(folder, 'credentials.mts');
    const kubernetes = JSON.stringify(join(root, 'libs/kubernetes/src/index.ts'));
    writeFileSync(
      file,
      `import { listContexts, loadKubeconfig } from ${kubernetes};
      const paths = [process.argv[2] ?? ''];
      for (const context of await listContexts(paths)) {
        const options = {};
        const access = await loadKubeconfig({ paths, context });
        const outcome = await access.open().then((plugin) => plugin.applyToHTTPSOptions(options)).then(() => options, String);
        console.log(context, JSON.stringify(outcome));
      }`
        .replace('const paths', 'async function run() { const paths')
        .concat('}\nvoid run();'),
    );
    return file;
  };

  test('work in the bundle as they do in the sources', async () => {
    const token = (claims: object) =>
      ['{}', JSON.stringify(claims)].map((part) => Buffer.from(part).toString('base64url'));
    const idToken = [...token({ exp: 4_000_000_000 }), 'signature'].join('.');
    const status = JSON.stringify({ kind: 'ExecCredential', status: { token: 'from-exec' } });
    const provider = (name: string, config: object) => ({ 'auth-provider': { name, config } });
    const users = {
      exec: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: '/bin/echo', args: [status] } },
      oidc: provider('oidc', { 'id-token': idToken }),
      expired: provider('oidc', { 'id-token': [...token({ exp: 1 }), 'signature'].join('.') }),
      gcp: provider('gcp', { 'access-token': 'from-gcp', expiry: '2100-01-01T00:00:00Z' }),
      azure: provider('azure', { 'access-token': 'from-azure', 'expires-on': '4000000000' }),
    };
    const names = Object.keys(users);
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: 'https://10.0.0.1' } }],
      contexts: names.map((name) => ({ name, context: { cluster: 'c', user: name } })),
      users: Object.entries(users).map(([name, user]) => ({ name, user })),
    };
    const file = join(folder, 'config');
    writeFileSync(file, JSON.stringify(config));
    const source = entry();
    await bundle({ entry: source, directory: join(folder, 'plugins') });
    const run = async (main: string) => (await promisify(execFile)(process.execPath, [main, file])).stdout;
    const bundled = await run(join(folder, 'plugins', 'main.js'));
    for (const name of ['exec', 'gcp', 'azure']) expect(bundled).toContain(`Bearer from-${name}`);
    expect(bundled).toContain(`Bearer ${idToken}`);
    expect(bundled).toBe(await run(source));
  });

  test('are in a chunk of at most 400 kB, without the generated API clients', () => {
    const chunks = readdirSync(folder).filter((name) => name.endsWith('.cjs'));
    const [plugins = ''] = chunks.filter((name) => name.startsWith('plugin-authenticator-'));
    const code = (name: string) => readFileSync(join(folder, name), 'utf8');
    expect(code(plugins)).toMatch(/\bExecAuth\b/);
    expect(code(plugins).length).toBeLessThan(400_000);
    expect(chunks.filter((name) => code(name).includes('CoreV1Api'))).toEqual([]);
  });
});

describe('the code cache of called functions', () => {
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

  test('is written at the end of the first run only', async () => {
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

  test('is ignored if it is invalid', async () => {
    await run('call');
    const [name = 'none'] = kept();
    for (const text of ['', 'something else']) {
      writeFileSync(join(directory, name), text);
      expect(await run('call')).toBe('true\n');
    }
  });

  test('keeps file and line in stack traces', async () => {
    const entry = join(directory, 'throws.ts');
    writeFileSync(entry, 'export {};\nfunction fails() {\n  throw new Error("no luck");\n}\nfails();');
    await bundle({ entry, directory });
    await expect(run()).rejects.toThrow(/at fails \(.*throws-.*\.cjs:\d+:\d+\)/);
  });
});

test('worker threads run from the bundle, and their chunks are shared with the program', async () => {
  writeFileSync(join(folder, 'answer.ts'), "export const answer = (): string => 'in its own chunk';");
  const worker = join(folder, 'a-worker.ts');
  writeFileSync(
    worker,
    `import { parentPort, threadId } from 'node:worker_threads';
    import { answer } from './answer.ts';
    parentPort?.postMessage({ thread: threadId > 0, answer: answer(), stack: new Error('here').stack });`,
  );
  const entry = join(folder, 'starts-worker.ts');
  writeFileSync(
    entry,
    `import { Worker } from 'node:worker_threads';
    import { answer } from './answer.ts';
    const worker = new Worker(new URL('./a-worker.ts', import.meta.url));
    worker.on('message', (message) => console.log(JSON.stringify({ ...message, same: message.answer === answer() })));`,
  );
  const directory = join(folder, 'workers');
  await bundle({ entry, workers: [worker], directory });
  const { stdout } = await promisify(execFile)(process.execPath, [join(directory, 'main.js')]);
  const { stack, ...rest } = JSON.parse(stdout) as { readonly stack: string };
  expect(rest).toEqual({ thread: true, answer: 'in its own chunk', same: true });
  expect(stack).toMatch(/workers\/a-worker-.*\.cjs/);
  const holds = (name: string) => readFileSync(join(directory, name), 'utf8').includes('in its own chunk');
  // Not V8's cached code, which is written once the program has run.
  const holders = readdirSync(directory).filter((name) => name.endsWith('.cjs') && holds(name));
  expect(holders).toHaveLength(1);
});

test('the bundle of this program runs the chunks of its threads, not their sources', async () => {
  const workers = workerSources.map((path) => join(root, path));
  const directory = join(folder, 'with-threads');
  await bundle({ entry: sources, workers, directory });
  const code = readdirSync(directory)
    .filter((name) => name.endsWith('.cjs'))
    .map((name) => readFileSync(join(directory, name), 'utf8'));
  for (const name of workers.map((path) => basename(path, '.ts'))) {
    expect(code.filter((text) => text.includes(`./${name}.js`))).toHaveLength(1);
    expect(code.filter((text) => text.includes(`./${name}.ts`))).toEqual([]);
  }
});

test('modules stay in strict mode', async () => {
  const entry = join(folder, 'strict.ts');
  writeFileSync(entry, 'export {};\nObject.freeze(globalThis.process.versions).node = "other";');
  await bundle({ entry, directory: join(folder, 'strict') });
  const run = promisify(execFile)(process.execPath, [join(folder, 'strict', 'main.js')]);
  await expect(run).rejects.toThrow(/TypeError: Cannot assign to read only property/);
});

test('the image contains everything that its entry point needs to run the bundle', async () => {
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
  // The image has no packages, so it could not run from the sources.
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

  test('until a file is added or removed', () => {
    writeFileSync(join(checkout, 'libs/a/new.ts'), '');
    undo('libs/a/new.ts');
    expect(isFresh()).toBe(false);
    undo('libs/a');
    expect(isFresh()).toBe(true);
    rmSync(join(checkout, 'libs/a/gone.ts'));
    expect(isFresh()).toBe(false);
    undo('libs/a');
  });

  test('only if it exists', () => {
    rmSync(join(checkout, '.cache/program/main.js'));
    expect(isFresh()).toBe(false);
  });
});
