import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ApiServerHttp, FakeApiServer, kubeconfigOf } from '@sluice/fake-apiserver';
import { freePorts } from '@sluice/local';
import { seededRandom } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { expect, test } from 'vitest';

const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
const sluice = (...args: string[]) => promisify(execFile)(process.execPath, [main, ...args]);

test('--metrics-bind-address 0 disables metrics', async () => {
  const { stdout } = await sluice('run', '--metrics-bind-address', '0', '--for', '1s', '--output', 'json');
  const [started = ''] = stdout.split('\n');
  expect(JSON.parse(started)).toMatchObject({ event: 'started' });
  expect(started).not.toContain('Metrics');
});

test('a closed OTLP port costs one warning with the number of dropped spans, and exit status 0', async () => {
  const closed = ['--otlp-endpoint', 'http://127.0.0.1:9', '--trace-ratio', '1', '--output', 'json'];
  const run = spawn(process.execPath, [main, 'run', '--metrics-bind-address', '0', ...closed]);
  const ended = once(run, 'exit');
  let [stdout, stderr] = ['', ''];
  run.stdout.on('data', (text) => {
    stdout += text;
  });
  run.stderr.on('data', (text) => {
    stderr += text;
  });
  await expect.poll(() => stdout).toContain('"event":"plan"');
  run.kill();
  expect(await ended).toEqual([0, null]);
  const warnings = stderr.split('\n').filter((line) => /"level":"(warn|error)"/.test(line));
  expect(warnings).toEqual([expect.stringMatching(/"dropped":[1-9].*spans were not exported/)]);
});

test('with one cluster, its phase is a metric: serving, then unavailable; upstream metrics have no label for it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-run-'));
  const random = seededRandom(1);
  const http = new ApiServerHttp({ server: new FakeApiServer({ clock: systemClock, random }), clock: systemClock });
  const kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(await http.listen(), 'only')), { mode: 0o600 });
  const [port] = await freePorts(1);
  const run = spawn(
    process.execPath,
    [main, 'run', '--kubeconfig', kubeconfig, '--take-over', '--metrics-bind-address', `127.0.0.1:${port}`],
    { stdio: 'ignore' },
  );
  const ended = new Promise((resolve) => run.once('exit', resolve));
  const metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => undefined))?.text();
  const phase = (name: string) => `sluice_cluster_phase{cluster="only",phase="${name}"} 1`;
  try {
    await expect.poll(metrics).toContain(phase('serving'));
    expect(await metrics()).toMatch(/^sluice_parked_services\{controller="endpoints"\} 0$/m);
    await http.close();
    await expect.poll(metrics).toContain(phase('unavailable'));
    expect(await metrics()).not.toContain('phase="serving"');
  } finally {
    run.kill();
    await ended;
    await http.close();
    rmSync(directory, { recursive: true, force: true });
  }
});

test('a reader that closes the pipe ends a command quietly', () => {
  const head = (command: string) =>
    spawnSync('bash', ['-o', 'pipefail', '-c', `${process.execPath} ${main} ${command} | head -1`], {
      encoding: 'utf8',
    });
  const { stdout, stderr } = head('config --example');
  expect(stdout.split('\n')).toHaveLength(2);
  expect(stderr).toBe('');
  expect(head('run --metrics-bind-address 0 --for 20s --output json --log-level warn')).toMatchObject({
    stdout: expect.stringContaining('started'),
    stderr: '',
    status: 0,
  });
});

/** Command lines of all child processes. */
function children(of: number | undefined): readonly string[][] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const parent = /^PPid:\s(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
      return Number(parent) === of ? [readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')] : [];
    } catch {
      // Not a process, or it has exited.
      return [];
    }
  });
}

test.runIf(process.platform === 'linux')(
  'roles of --distributed are started as the process is that starts them, with the same options of Node',
  async () => {
    const node = ['--max-semi-space-size=8', '--stack-trace-limit=17', main];
    const run = spawn(process.execPath, [...node, 'run', '--distributed', '--output', 'none'], { stdio: 'ignore' });
    const ended = new Promise((resolve) => run.once('exit', resolve));
    try {
      const roles = () => children(run.pid).map(([, ...args]) => args.slice(0, node.length + 1));
      const all = ['watcher', 'reconciler', 'writer', 'console'].map((role) => [...node, role]);
      await expect.poll(roles).toEqual(expect.arrayContaining(all));
    } finally {
      run.kill();
      await ended;
    }
  },
);

test('the simulated cluster keeps traces, which say where the time of a write went', async () => {
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const args = ['--metrics-bind-address', `127.0.0.1:${port}`, '--output', 'none'];
  const run = spawn(process.execPath, [main, 'run', ...args], { stdio: 'ignore' });
  const ended = once(run, 'exit');
  try {
    const trace = async () => {
      const answer = await fetch(`${url}/api/v1/changes?limit=1`).catch(() => undefined);
      const { items = [] } = ((await answer?.json()) ?? {}) as { items?: { namespace: string; name: string }[] };
      const [last] = items;
      if (last === undefined) return '';
      return sluice('trace', `${last.namespace}/${last.name}`, '--console', url).then(
        ({ stdout }) => stdout,
        (error: { stderr: string }) => error.stderr,
      );
    };
    await expect.poll(trace).toMatch(/^\d+ % [\s\S]*API server[\s\S]*^ *writer: \w+ \/api.* 20\d /m);
  } finally {
    run.kill();
    await ended;
  }
});

test('of three simulated clusters, one stops answering and returns, and the others are served meanwhile', async () => {
  const [port] = await freePorts(1);
  const args = ['--clusters', '3', '--seed', '1', '--metrics-bind-address', `127.0.0.1:${port}`, '--output', 'json'];
  const run = spawn(process.execPath, [main, 'run', ...args]);
  const ended = once(run, 'exit');
  let stdout = '';
  let stderr = '';
  run.stdout.on('data', (text) => {
    stdout += text;
  });
  run.stderr.on('data', (text) => {
    stderr += text;
  });
  const read = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined))?.text();
  const servicesOf = (cluster: string) => {
    const plans = stdout.split('\n').filter((line) => line.includes(`"cluster":"${cluster}"`));
    return new Set(plans.map((line) => /"service":"([^"]+)"/.exec(line)?.[1]));
  };
  try {
    await expect.poll(() => servicesOf('cluster-3')).toContain('search');
    await expect.poll(() => servicesOf('cluster-2')).toContain('payments-api');
    expect(servicesOf('cluster-2')).not.toContain('search');
    await expect.poll(() => read('/metrics')).toContain('phase{cluster="cluster-3",phase="unavailable"} 1');
    expect(await read('/metrics')).toContain('phase{cluster="cluster-1",phase="serving"} 1');
    expect(await read('/api/v1/overview')).toMatch(/"name":"cluster-3"[^}]*"state":"not answering"/);
    expect(stderr).toMatch(/"cluster":"cluster-3","for":"20s","msg":"simulated API server stopped"/);
    await expect.poll(() => stderr).toMatch(/"cluster":"cluster-3".*"msg":"cluster responding again"/);
    await expect.poll(() => read('/metrics')).toContain('phase{cluster="cluster-3",phase="serving"} 1');
  } finally {
    run.kill();
    await ended;
  }
  const summary = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  expect(summary.clusters).toHaveLength(3);
  expect(summary.clusters).toContainEqual({ name: 'cluster-1', phase: 'serving' });
});

test('in a terminal, the demo shows its state in place of lines, and at Ctrl-C a summary', async () => {
  const command = `stty cols 80 rows 30; exec '${process.execPath}' '${main}' run --metrics-bind-address 127.0.0.1:0`;
  const run = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null']);
  const ended = once(run, 'exit');
  let out = '';
  run.stdout.on('data', (text) => {
    out += text;
  });
  try {
    await expect.poll(() => out).toContain('Deployment shop/cart rolls out a new version');
    await expect.poll(() => out).toMatch(/shop\/cart: \d of \d ready, written in /);
    run.stdin.write('\u0003');
    expect(await ended).toEqual([0, null]);
  } finally {
    run.kill();
  }
  expect(out).toContain('nothing real is touched');
  expect(out).toMatch(/^ {2}bin\/sluice explain shop\/checkout --console http:\/\/127\.0\.0\.1:\d+\r$/m);
  expect(out).not.toContain('+ EndpointSlice');
  const afterPage = out.slice(out.lastIndexOf('\u001b[J'));
  expect(afterPage).not.toContain('Simulation');
  expect(afterPage).toMatch(/Ran \d[\s\S]* {2}written {3}\d+ objects for 10 Services/);
});

test('in a pipe, the demo prints a line for each write', async () => {
  const run = spawn(process.execPath, [main, 'run', '--metrics-bind-address', '127.0.0.1:0']);
  const ended = once(run, 'exit');
  let out = '';
  run.stdout.on('data', (text) => {
    out += text;
  });
  try {
    await expect.poll(() => out).toMatch(/^ +\+ EndpointSlice shop\/cart-\w+ +4\/4 ready/m);
  } finally {
    run.kill();
    await ended;
  }
  expect(out).toContain('nothing real is touched');
  expect(out).toContain('Ran ');
  expect(out).not.toContain('\u001b[');
});
