import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeApiServer } from '@sluice/fake-apiserver';
import { kubeconfigText } from '@sluice/fleet/testing';
import { seededRandom } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Answer, HostileServer } from './harness/hostile-server.ts';

/** Commands print what an API server says, which contains what a terminal would interpret, and lines of its own. */

const hostile = 'v1.36.3\u001b]0;owned\u0007\u009b2J\u202e\r\nproduction   usable';
/** ESC, BEL, CSI, a right-to-left override and carriage return. */
const interpreted = ['\u001b', '\u0007', '\u009b', '\u202e', '\r'];

const program = join(import.meta.dirname, '..', 'bin', 'sluice');
let directory: string;
let server: HostileServer | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-terminal-'));
});

afterEach(async () => {
  await server?.close();
  await rm(directory, { recursive: true, force: true });
});

const json = (status: number, path: RegExp, body: object): Answer => {
  return (request, response) => {
    if (!path.test(request.url ?? '')) return false;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    return true;
  };
};

/** A version with escapes. */
const version = json(200, /^\/version/, { major: '1', minor: '36', gitVersion: hostile });
/** A refusal of every request with escapes. */
const refusal = json(403, /^\//, {
  ...{ kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Forbidden', code: 403 },
  message: hostile,
});

async function sluice(answer: Answer, ...args: readonly string[]): Promise<{ readonly text: string }> {
  server = new HostileServer(new FakeApiServer({ clock: systemClock, random: seededRandom(1) }), answer);
  const kubeconfig = join(directory, 'kubeconfig.yaml');
  await writeFile(kubeconfig, kubeconfigText({ server: await server.listen() }));
  const env = { ...process.env, NO_COLOR: '1' };
  return new Promise((resolve) => {
    execFile(program, [...args, '--kubeconfig', kubeconfig], { env }, (_, stdout, stderr) =>
      resolve({ text: `${stdout}${stderr}` }),
    );
  });
}

describe.each([
  ['clusters list', ['clusters', 'list']],
  ['clusters show', ['clusters', 'show', 'test']],
  ['the error of run', ['run', '--metrics-bind-address', '0', '--for', '20s']],
  ['doctor', ['doctor']],
])('%s', (_, args) => {
  test('prints a refusal escaped, without lines of its own', async () => {
    const { text } = await sluice(refusal, ...args);
    // The table wraps it.
    expect(text.replaceAll(/\s+/g, ' ')).toContain('\\u001b]0;owned\\u0007\\u009b2J\\u202e production usable');
    expect(interpreted.filter((character) => text.includes(character))).toEqual([]);
    expect(text).not.toMatch(/^\s*production\b/m);
  });

  test('does not print a version that is none', async () => {
    const { text } = await sluice(version, ...args);
    expect(text).toContain('gitVersion in /version is not a version');
    expect(interpreted.filter((character) => text.includes(character))).toEqual([]);
    expect(text).not.toContain('owned');
  });
});
