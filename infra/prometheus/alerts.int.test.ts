import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { RoleProcess } from '@sluice/demo/distributed';
import { ApiServerHttp, FakeApiServer, kubeconfigOf, type Population, populate } from '@sluice/fake-apiserver';
import { seededRandom } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  ensurePrometheus,
  freePorts,
  type Nats,
  type Prometheus,
  type RedisServer,
  startNats,
  startPrometheus,
  startRedis,
} from '../local/src/index.ts';

/** Evaluates the rules and the queries of the dashboard in a real Prometheus that scrapes running roles. */

const folder = dirname(fileURLToPath(import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'sluice-alerts-'));
const ruleFiles = ['alerts.yaml', 'slos.yaml'];
const roles = ['watcher', 'reconciler', 'writer'] as const;
const processes = new Map<string, RoleProcess>();
let prometheus: Prometheus;
let nats: Nats;
let redis: RedisServer;
let server: FakeApiServer;
let http: ApiServerHttp;
let population: Population;

const random = seededRandom(1);

beforeAll(async () => {
  nats = await startNats({ directory: join(root, 'nats') });
  redis = await startRedis({ directory: join(root, 'redis') });
  server = new FakeApiServer({ clock: systemClock, random });
  population = populate(server, { services: 2, podsPerService: 2, now: systemClock.now() });
  http = new ApiServerHttp({ server, clock: systemClock });
  writeFileSync(join(root, 'kubeconfig.json'), JSON.stringify(kubeconfigOf(await http.listen(), 'c')));
  const ports = await freePorts(roles.length);
  for (const [index, role] of roles.entries()) {
    const where = ['--bus', nats.url, '--store', redis.url, '--partitions', '4'];
    const cluster = role === 'reconciler' ? [] : ['--kubeconfig', join(root, 'kubeconfig.json')];
    const metrics = ['--metrics-bind-address', `127.0.0.1:${ports[index]}`];
    processes.set(role, new RoleProcess(role, role, [...where, ...metrics, ...cluster], () => {}));
  }
  prometheus = await startPrometheus({
    directory: join(root, 'prometheus'),
    configuration: {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ruleFiles.map((file) => join(folder, file)),
      scrape_configs: [
        {
          job_name: 'sluice',
          honor_labels: true,
          static_configs: roles.map((role, index) => ({ targets: [`127.0.0.1:${ports[index]}`], labels: { role } })),
        },
      ],
    },
  });
});

afterAll(async () => {
  await prometheus?.stop();
  for (const { child } of processes.values()) child.kill('SIGKILL');
  await http?.close();
  await nats?.stop();
  await redis?.stop();
  rmSync(root, { recursive: true, force: true });
});

interface Rule {
  readonly name: string;
  readonly query: string;
  readonly state: string;
  readonly health: string;
  readonly lastError?: string;
}

async function ask<T>(path: string): Promise<T> {
  const response = await fetch(`${prometheus.url}/api/v1${path}`);
  const { data, error } = (await response.json()) as { data: T; error?: string };
  if (error !== undefined) throw new Error(`${path}: ${error}`);
  return data;
}

async function rules(): Promise<readonly Rule[]> {
  const { groups } = await ask<{ groups: readonly { rules: readonly Rule[] }[] }>('/rules');
  return groups.flatMap((group) => group.rules);
}

/** Number of series that the expression selects now. */
async function find(query: string): Promise<number> {
  const { result } = await ask<{ result: readonly unknown[] }>(`/query?query=${encodeURIComponent(query)}`);
  return result.length;
}

function flipPods(): void {
  for (const pod of [0, 1]) server.put('pods', population.podObject(0, pod, random.next() < 0.5));
}

const namesIn = (expression: string) => expression.match(/\b(up|[a-z]+(_[a-z0-9]+)+)\b(?=[{[) ]|$)/g) ?? [];
const functions = /^(histogram_quantile|sum|max|rate|increase|changes|by)$/;

/** Labelled counters of failures, which have no series before the first failure. */
const failureCounters = [
  'sluice_competing_controller_plans_total',
  'sluice_fencing_rejections_total',
  'sluice_malformed_objects_total',
  'sluice_mass_addition_checks_total',
  'sluice_mass_removal_checks_total',
  'sluice_write_retries_total',
];

/** Only processes that record, or have a console of several clusters, have these; no role does. */
const ofConsoles = ['sluice_service_problems', 'sluice_logical_services'];

it('promtool fires each alert', async () => {
  const { promtool } = await ensurePrometheus();
  const { stdout } = await promisify(execFile)(promtool, ['test', 'rules', join(folder, 'alerts.test.yaml')]);
  expect(stdout).toContain('SUCCESS');
});

it('all rules are loaded and evaluated, and none fires for a healthy fleet', async () => {
  await expect.poll(() => find('up{job="sluice"} == 1')).toBe(roles.length);
  const text = ruleFiles.map((file) => readFileSync(join(folder, file), 'utf8')).join('');
  const expected = [...text.matchAll(/- (alert|record): /g)].length;
  await expect.poll(async () => (await rules()).filter(({ health }) => health === 'ok').length).toBe(expected);
  expect((await rules()).filter(({ state }) => state === 'firing')).toEqual([]);
});

it('the roles expose each metric that a rule or a panel uses', async () => {
  const dashboard = JSON.parse(readFileSync(join(folder, '../grafana/dashboards/sluice.json'), 'utf8')) as {
    panels: { targets: { expr: string }[] }[];
  };
  const panels = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  for (const panel of panels) await find(panel.replaceAll('$__rate_interval', '1m').replaceAll(/\$\w+/g, '.*'));
  const queries = [...(await rules()).map(({ query }) => query), ...panels];
  const names = new Set(queries.flatMap((query) => namesIn(query.replace(/\{[^}]*\}|by \([^)]*\)/g, ''))));
  const needed = [...names].filter(
    (name) => !functions.test(name) && ![...failureCounters, ...ofConsoles].includes(name),
  );
  expect(needed.length).toBeGreaterThan(10);
  const missing = async () => {
    flipPods();
    const found = await Promise.all(needed.map(async (name) => ((await find(name)) > 0 ? [] : [name])));
    return found.flat();
  };
  await expect.poll(missing, { interval: 1000 }).toEqual([]);
});

it('the objectives are measured: changes are counted, watches are fresh and decisions available', async () => {
  for (const query of ['sluice:latency_errors:ratio5m >= 0', 'sluice:stale == 0', 'sluice:unavailable == 0']) {
    const series = () => {
      flipPods();
      return find(query);
    };
    await expect.poll(series, { interval: 1000 }).toBeGreaterThan(0);
  }
});

it('the alert of a role fires when its last process is gone', async () => {
  const firing = async () => (await rules()).filter(({ state }) => state === 'firing').map(({ name }) => name);
  processes.get('reconciler')?.child.kill('SIGKILL');
  await expect.poll(firing, { interval: 1000 }).toContain('SluiceRoleDown');
});
