import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { kubeconfigText, type TextOptions } from '../testing/kubeconfig-text.ts';
import { kubeconfigSource } from './kubeconfig-source.ts';

let root: string;
let directory: string;
const signal = new AbortController().signal;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'sluice-kubeconfig-source-'));
  directory = await mkdtemp(join(root, 'clusters-'));
});

afterEach(() => rm(root, { recursive: true, force: true }));

const write = (name: string, options: TextOptions = {}) => writeFile(join(directory, name), kubeconfigText(options));
const read = (contexts?: string) => kubeconfigSource({ path: directory, contexts }).read(signal);
const names = async (contexts?: string) => (await read(contexts)).candidates.map(({ name }) => name);

async function only(contexts?: string) {
  const { candidates, problems } = await read(contexts);
  const [candidate] = candidates;
  if (candidate === undefined || candidates.length > 1) throw new Error(JSON.stringify({ candidates, problems }));
  return candidate;
}

describe('a directory', () => {
  test('lists a cluster per file, and skips files of mounts and editors', async () => {
    for (const name of ['b.yaml', 'a.kubeconfig', '.a.swp', '..data', 'a.kubeconfig~']) await write(name);
    await mkdtemp(join(directory, 'sub-'));
    expect(await names()).toEqual(['a', 'b']);
  });

  test('reflects added, changed and removed files', async () => {
    const source = kubeconfigSource({ path: directory });
    const found = async () =>
      (await source.read(signal)).candidates.map(({ name, fingerprint }) => [name, fingerprint]);
    expect(await found()).toEqual([]);
    await write('a.yaml');
    await write('b.yaml');
    const [a, b] = await found();
    expect([a?.[0], b?.[0]]).toEqual(['a', 'b']);
    await write('a.yaml', { server: 'http://127.0.0.1:2' });
    const [changed, same] = await found();
    expect(changed?.[1]).not.toBe(a?.[1]);
    expect(same).toEqual(b);
    await rm(join(directory, 'a.yaml'));
    expect(await found()).toEqual([b]);
  });

  test.each([
    ['notes', 'Ask Ann before you change these.', 'it is not a kubeconfig'],
    ['half of a file', '{ clusters: [', 'it is not YAML'],
    ['an empty file', '', 'it is empty'],
    ['a file without contexts', 'contexts: []', 'it has no contexts'],
  ])('reports %s and lists the others', async (_, text, reason) => {
    await write('a.yaml');
    await writeFile(join(directory, 'b.yaml'), text);
    const { candidates, problems } = await read('*');
    expect(candidates.map(({ from }) => from)).toEqual([`${join(directory, 'a.yaml')}, context test`]);
    expect(problems).toMatchObject([{ name: 'b', from: join(directory, 'b.yaml') }]);
    expect(problems[0]?.reason).toContain(reason);
    expect(problems[0]?.reason).toContain(join(directory, 'b.yaml'));
  });

  test('reports a file that cannot be read, and skips a dangling symlink', async () => {
    await symlink('loop.yaml', join(directory, 'loop.yaml'));
    await symlink('nowhere.yaml', join(directory, 'dangling.yaml'));
    const { candidates, problems } = await read();
    expect(candidates).toEqual([]);
    expect(problems.map(({ from }) => from)).toEqual([join(directory, 'loop.yaml')]);
  });

  test('that is missing temporarily is unreadable, not empty', async () => {
    await write('a.yaml');
    const source = kubeconfigSource({ path: directory });
    await rename(directory, `${directory}-away`);
    await expect(source.read(signal)).rejects.toThrow('ENOENT');
    await rename(`${directory}-away`, directory);
    expect((await source.read(signal)).candidates).toHaveLength(1);
  });

  test('may be created later', async () => {
    await rename(directory, `${directory}-away`);
    const source = kubeconfigSource({ path: directory });
    expect((await source.read(signal)).problems[0]?.reason).toContain('does not exist');
    await rename(`${directory}-away`, directory);
    await write('a.yaml');
    expect((await source.read(signal)).candidates).toMatchObject([{ name: 'a' }]);
  });
});

describe('contexts', () => {
  beforeEach(() => write('a.yaml', { contexts: ['east', 'west', 'a,b'] }));

  test.each([
    ['*', ['east', 'west', 'a,b']],
    ['east, west', ['east', 'west']],
    ['a,b', ['a,b']],
  ])('%s', async (contexts, expected) => {
    expect(await names(contexts)).toEqual(expected);
  });

  test('load their own context, with a fingerprint each', async () => {
    const { candidates } = await read('*');
    expect((await candidates[1]?.load())?.context).toBe('west');
    expect(new Set(candidates.map(({ fingerprint }) => fingerprint)).size).toBe(3);
  });

  test('of the same name in two files are both listed', async () => {
    await write('b.yaml', { contexts: ['east'] });
    const { candidates } = await read('east');
    expect(candidates.map(({ name }) => name)).toEqual(['east', 'east']);
    expect(candidates[0]?.from).not.toBe(candidates[1]?.from);
  });

  test('that do not exist fail to load; the others load', async () => {
    const [first, second] = (await read('east,north')).candidates;
    expect((await first?.load())?.context).toBe('east');
    await expect(second?.load()).rejects.toThrow('no context "north"; choose one with --context: a,b, east, west');
  });
});

describe('a file that refers to other files', () => {
  test('reports a missing certificate authority when loaded, and loads once that file exists', async () => {
    await write('a.yaml', { cluster: { 'certificate-authority': 'sub.crt' } });
    const candidate = await only();
    await expect(candidate.load()).rejects.toThrow(`"${join(directory, 'sub.crt')}" (ENOENT)`);
    await writeFile(join(directory, 'sub.crt'), 'a certificate');
    expect((await kubeconfigSource({ path: join(directory, 'a.yaml') }).read(signal)).candidates[0]?.fingerprint).toBe(
      candidate.fingerprint,
    );
    await candidate.load();
  });

  test('may use an exec plugin', async () => {
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: './plugin', interactiveMode: 'Never' };
    await write('a.yaml', { user: { exec } });
    expect((await (await only()).load()).context).toBe('test');
  });
});

test('a single file takes the given name; when deleted, it is a problem, not an empty source', async () => {
  await write('a.yaml');
  const source = kubeconfigSource({ path: join(directory, 'a.yaml'), name: 'prod' });
  expect(source.isFile).toBe(true);
  expect((await source.read(signal)).candidates).toMatchObject([{ name: 'prod', from: join(directory, 'a.yaml') }]);
  await rm(join(directory, 'a.yaml'));
  expect(await source.read(signal)).toMatchObject({ candidates: [], problems: [{ from: join(directory, 'a.yaml') }] });
});

test('a file is named after the context that is current when it is first read', async () => {
  await write('config', { contexts: ['west', 'east'] });
  const source = (name?: string) => kubeconfigSource({ path: join(directory, 'config'), name });
  const nameIn = async (one: ReturnType<typeof source>) => (await one.read(signal)).candidates.map(({ name }) => name);
  const unnamed = source();
  expect(await nameIn(unnamed)).toEqual(['west']);
  expect(await nameIn(source('prod'))).toEqual(['prod']);
  await write('config', { contexts: ['east', 'west'] });
  expect(await nameIn(unnamed), 'another current context is a change, not another cluster').toEqual(['west']);
});

test('several files are merged; each is part of the fingerprint and may be missing', async () => {
  await write('contexts', { contexts: ['west'] });
  const paths = ['current', 'contexts', 'gone'].map((name) => join(directory, name));
  await writeFile(join(directory, 'current'), 'current-context: west\n');
  const source = kubeconfigSource({ path: paths });
  expect(source).toMatchObject({ isFile: true, about: `kubeconfig ${paths.join(', ')}` });
  const [first] = (await source.read(signal)).candidates;
  expect(first).toMatchObject({ name: 'west', from: paths.join(', ') });
  expect((await first?.load())?.context).toBe('west');
  await writeFile(join(directory, 'gone'), '# now it exists\n');
  const [second] = (await source.read(signal)).candidates;
  expect(second?.fingerprint).not.toBe(first?.fingerprint);
});
