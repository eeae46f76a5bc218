import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { controllers } from '@sluice/controllers';
import { asRecord, asString, type JsonRecord } from '@sluice/platform';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { rbacManifests } from '../kubernetes/rbac.ts';
import { type ControlPlane, ensureHelm, ensurePrometheus, kubectl, startControlPlane } from '../local/src/index.ts';
import { invalidValues, type Values, validValues } from './testing/values.ts';

/** Renders the chart with Helm, and has a real API server and promtool accept what it renders. */

const chart = dirname(fileURLToPath(import.meta.url));
const main = join(chart, '../../services/sluice/src/main.ts');
const root = mkdtempSync(join(tmpdir(), 'sluice-helm-'));
let helm: string;
let cluster: ControlPlane;

beforeAll(async () => {
  helm = await ensureHelm();
  cluster = await startControlPlane({
    directory: join(root, 'cluster'),
    name: 'helm',
    authorization: 'RBAC',
    grantSluice: false,
  });
  for (const namespace of ['sluice', 'sluice-watcher-clusters', 'sluice-writer-clusters'])
    await kubectl(cluster.adminKubeconfig, ['create', 'namespace', namespace]);
  await kubectl(cluster.adminKubeconfig, ['apply', '-f', '-'], JSON.stringify(prometheusOperator));
  await kubectl(cluster.adminKubeconfig, ['wait', '--for=condition=Established', 'crd', '--all']);
});

afterAll(async () => {
  await cluster?.stop();
  rmSync(root, { recursive: true, force: true });
});

/** Writes the values to a file and runs Helm with it. */
async function run(command: readonly string[], values: Values): Promise<string> {
  const file = join(root, 'values.json');
  writeFileSync(file, JSON.stringify(values));
  const { stdout } = await promisify(execFile)(helm, [...command, '--values', file], { maxBuffer: 64 * 1024 ** 2 });
  return stdout;
}

const render = (values: Values) => run(['template', 'sluice', chart, '--namespace', 'sluice'], values);

/** The rendered objects, parsed by the API server. */
async function objectsOf(rendered: string): Promise<readonly JsonRecord[]> {
  const dryRun = ['apply', '--dry-run=server', '--warnings-as-errors=true', '-o', 'json', '-f', '-'];
  const answer = asRecord(JSON.parse(await kubectl(cluster.adminKubeconfig, dryRun, rendered)));
  return answer.kind === 'List' ? asArray(answer.items).map(asRecord) : [answer];
}

const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const ofKind = (objects: readonly JsonRecord[], kind: string) => objects.filter((object) => object.kind === kind);

function containerOf({ spec }: JsonRecord): JsonRecord {
  const [container = {}] = asArray(asRecord(asRecord(asRecord(spec).template).spec).containers).map(asRecord);
  return container;
}

/** The variables of a container. */
function environmentOf(objects: readonly JsonRecord[], container: JsonRecord): NodeJS.ProcessEnv {
  const [configMap = {}] = ofKind(objects, 'ConfigMap');
  writeFileSync(join(root, 'ca.crt'), 'certificate');
  const shared = JSON.parse(JSON.stringify(configMap.data).replaceAll('/etc/sluice/tls', root));
  const own = asArray(container.env).map((variable) => {
    const { name, value } = asRecord(variable);
    return [asString(name), asString(value)];
  });
  return { ...asRecord(shared), ...Object.fromEntries(own) };
}

describe.each(Object.entries(validValues))('values: %s', (_, values) => {
  test('lint finds nothing', async () => {
    await run(['lint', '--strict', chart], values);
  });

  test('the API server accepts all objects without warnings, and the settings of each container are valid', async () => {
    const objects = await objectsOf(await render(values));
    const deployments = ofKind(objects, 'Deployment');
    expect(deployments).not.toEqual([]);
    for (const deployment of deployments) {
      const env = environmentOf(objects, containerOf(deployment));
      const { stderr } = await promisify(execFile)(process.execPath, [main, 'config'], { env });
      expect(stderr).toBe('');
    }
  });
});

test.each(invalidValues)('the schema rejects a wrong %s', async (place, values) => {
  const failed = run(['template', 'sluice', chart], values);
  await expect(failed).rejects.toMatchObject({
    stderr: expect.stringContaining("values don't meet the specifications"),
  });
  await expect(failed).rejects.toMatchObject({
    stderr: expect.stringContaining(place.slice(place.lastIndexOf('/') + 1)),
  });
});

/** One line per permission of a rule. */
const linesOf = ({ apiGroups, resources, resourceNames, verbs }: JsonRecord) =>
  asArray(resources).flatMap((resource) =>
    asArray(resourceNames ?? ['']).flatMap((name) =>
      asArray(verbs).map((verb) => `${verb} ${asArray(apiGroups)}/${resource} ${name}`),
    ),
  );

it.each([
  ['rbac.yaml', controllers, []],
  ['what one controller needs', ['endpointslice'], ['endpointslice-controller']],
])('grants exactly the permissions of %s', async (_, enabled, flags) => {
  const given = { controllers: flags };
  const roles = { ...given, mode: 'roles', bus: { servers: 'tls://b:4222' }, store: { url: 'rediss://s' } };
  const [ofRoles, ofOneProcess] = [await objectsOf(await render(roles)), await objectsOf(await render(given))];
  const isElection = ({ metadata }: JsonRecord) => asRecord(metadata).name === 'sluice-leader-election';
  const objects = [...ofRoles, ...ofOneProcess.filter(isElection)];
  const documented = await objectsOf(rbacManifests(enabled));
  const rulesOf = (all: readonly JsonRecord[]) =>
    all
      .filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole')
      .map(({ kind, metadata, rules }) => [
        ...[kind, asRecord(metadata).name],
        asArray(rules)
          .flatMap((rule) => linesOf(asRecord(rule)))
          .toSorted(),
      ])
      .toSorted();
  expect(rulesOf(objects)).toEqual(rulesOf(documented));
  const subjects = (all: readonly JsonRecord[]) =>
    all
      .filter(({ kind }) => kind === 'RoleBinding' || kind === 'ClusterRoleBinding')
      .map(({ kind, metadata, subjects }) => [
        ...[kind, asRecord(metadata).name],
        asArray(subjects)
          .map((subject) => asRecord(subject).name)
          .filter((name) => name !== 'sluice' && name !== 'sluice-all-in-one'),
      ])
      .toSorted();
  expect(subjects(objects)).toEqual(subjects(documented));
});

test.each([
  ['workers', 'sluice-worker'],
  ['roles', 'sluice-reconciler'],
])('mode %s scales %s as the component of infra/kubernetes does', async (mode, name) => {
  const values = { mode, bus: { servers: 'tls://b:4222' }, store: { url: 'rediss://s' } };
  const objects = await objectsOf(await render({ ...values, autoscaling: { enabled: true } }));
  const component = readFileSync(join(chart, '../kubernetes/components/autoscaling/autoscaler.yaml'), 'utf8');
  const [documented = {}] = await objectsOf(component.replaceAll('sluice-worker', name));
  expect(ofKind(objects, 'HorizontalPodAutoscaler').map(({ spec }) => spec)).toEqual([documented.spec]);
  const scaled = ofKind(objects, 'Deployment').find(({ metadata }) => asRecord(metadata).name === name);
  // The API server defaults it; the chart leaves it to the autoscaler.
  expect(asRecord(scaled?.spec).replicas).toBe(1);
});

test('a worker runs Node as the component of infra/kubernetes does', async () => {
  const nodeOptions = (objects: readonly JsonRecord[]) =>
    ofKind(objects, 'Deployment')
      .filter(({ metadata }) => asRecord(metadata).name === 'sluice-worker')
      .flatMap(({ spec }) => asArray(asRecord(asRecord(asRecord(spec).template).spec).containers))
      .flatMap((container) => asArray(asRecord(container).env).map(asRecord))
      .filter(({ name }) => name === 'NODE_OPTIONS');
  const values = { mode: 'workers', bus: { servers: 'tls://b:4222' }, store: { url: 'rediss://s' } };
  const component = readFileSync(join(chart, '../kubernetes/components/workers/worker.yaml'), 'utf8');
  const documented = nodeOptions(await objectsOf(component));
  expect(documented).toHaveLength(1);
  expect(nodeOptions(await objectsOf(await render(values)))).toEqual(documented);
});

// For mode observe, see observe.int.test.ts.
test.each(['allInOne', 'shadow'])('mode %s starts a process with valid flags', async (mode) => {
  const objects = await objectsOf(await render({ mode }));
  const [deployment = {}] = ofKind(objects, 'Deployment');
  const container = containerOf(deployment);
  const env = environmentOf(objects, container);
  expect(env).toMatchObject({
    SLUICE_METRICS_BIND_ADDRESS: ':10270',
    SLUICE_CONSOLE_BIND_ADDRESS: '127.0.0.1:10280',
    SLUICE_CONSOLE_AUTHORIZATION_MODE: 'token',
  });
  const args = asArray(container.args).map(asString);
  expect(args.includes('--leader-elect')).toBe(mode === 'allInOne');
  // NOTES.txt sends readers to the log for the differences.
  expect(args.includes('--output=none')).toBe(mode === 'allInOne');
  // Outside a Pod, only the service account is missing.
  await expect(promisify(execFile)(process.execPath, [main, ...args], { env })).rejects.toMatchObject({
    ...{ code: 2, stderr: expect.stringContaining('this is not a Pod') },
  });
});

it('has the alerts of infra/prometheus, which promtool accepts', async () => {
  const prometheusRule = { enabled: true, runbookBaseUrl: 'https://docs.example.com/v1/' };
  const objects = await objectsOf(await render({ metrics: { prometheusRule } }));
  const [rule = {}] = ofKind(objects, 'PrometheusRule');
  const file = join(root, 'rules.json');
  writeFileSync(file, JSON.stringify(rule.spec));
  const { promtool } = await ensurePrometheus();
  const { stdout } = await promisify(execFile)(promtool, ['check', 'rules', file]);
  const sources = ['alerts.yaml', 'slos.yaml'].map((name) => readFileSync(join(chart, '../prometheus', name), 'utf8'));
  const count = (pattern: RegExp) => sources.join('').match(pattern)?.length;
  expect(stdout).toContain(`${count(/- (alert|record):/g)} rules found`);
  const urls = readFileSync(file, 'utf8').match(/"runbook_url":"https:\/\/docs.example.com\/v1\/docs\//g);
  expect(urls).toHaveLength(count(/runbook_url: docs\//g) ?? 0);
});

/** As much of the Prometheus operator as an API server needs to accept its objects. */
const prometheusOperator = {
  apiVersion: 'v1',
  kind: 'List',
  items: (
    [
      ['ServiceMonitor', 'servicemonitors'],
      ['PrometheusRule', 'prometheusrules'],
    ] as const
  ).map(([kind, plural]) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.monitoring.coreos.com` },
    spec: {
      ...{ group: 'monitoring.coreos.com', scope: 'Namespaced', names: { kind, plural } },
      versions: [
        {
          ...{ name: 'v1', served: true, storage: true },
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  })),
};
