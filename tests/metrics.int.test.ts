import { get } from 'node:https';
import { text } from 'node:stream/consumers';
import {
  applyNode,
  applyPod,
  endpointsObject,
  namespace,
  namespaceObject,
  Pair,
  pod,
  portSpecs,
  serviceObject,
} from '@sluice/conformance';
import { freePorts } from '@sluice/local';
import { describeDifference } from '@sluice/shadow';
import { parseScrape, type Sample, type Scrape } from '@sluice/telemetry/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/**
 * The same workload on kube-controller-manager and on Sluice. Their scrapes have the same metrics by name, type, labels
 * and buckets, and the same values where these do not depend on how changes are divided into syncs.
 */
let pair: Pair;
let upstream: Scrape;
let sluice: Scrape;

const slices = 'endpoint_slice_controller_';
const mirroring = 'endpoint_slice_mirroring_controller_';
const ports = portSpecs({ name: 'http', port: 80, targetPort: 8080 });
const queues = ['endpoint', 'endpoint_slice', 'endpoint_slice_mirroring'];

beforeAll(async () => {
  pair = await Pair.start();
  // Before both sides start, so that they know the Pods before the Services and write each Service once.
  await pair.apply((client) => client.create('namespaces', namespaceObject(namespace)));
  await applyNode(pair, 'a-1', 'a');
  for (let i = 1; i <= 5; i++) await applyPod(pair, pod(`web-${i}`, 'web', `10.1.0.${i}`));
  const [upstreamPort, sluicePort] = await freePorts(2);
  await pair.startUpstream({
    args: [
      '--bind-address=127.0.0.1',
      `--secure-port=${upstreamPort}`,
      '--authorization-always-allow-paths=/metrics,/healthz',
    ],
  });
  await pair.startSluice({ args: ['--metrics-bind-address', `127.0.0.1:${sluicePort}`] });
  await workload();
  upstream = parseScrape(await scrapeUpstream(`https://127.0.0.1:${upstreamPort}/metrics`));
  sluice = parseScrape(await (await fetch(`http://127.0.0.1:${sluicePort}/metrics`)).text());
});

afterAll(() => pair?.stop());

/** The server has a self-signed certificate. */
function scrapeUpstream(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { rejectUnauthorized: false }, (response) => resolve(text(response))).once('error', reject);
  });
}

/** Single-stack Services only: for others, upstream counts only the last family (I1). */
async function workload(): Promise<void> {
  const selecting = (name: string, spec = {}) =>
    serviceObject({ namespace, name, spec: { selector: { app: 'web' }, ports, ...spec } });
  for (const service of [
    selecting('web'),
    selecting('near', { trafficDistribution: 'PreferClose' }),
    selecting('nobody', { selector: { app: 'nobody' } }),
    selecting('goes'),
    serviceObject({ namespace, name: 'custom', spec: { ports } }),
  ]) {
    await pair.apply((client) => client.create('services', service));
  }
  await rest();
  const subsets = [{ addresses: [{ ip: '192.0.2.1' }, { ip: '192.0.2.2' }], ports: [{ name: 'http', port: 8080 }] }];
  await pair.apply((client) => client.create('endpoints', endpointsObject({ namespace, name: 'custom', subsets })));
  await rest();
  await pair.apply((client) => client.delete({ resource: 'services', namespace, name: 'goes' }, 0));
  // Leaves its Services in one step. A deleted Pod terminates first, and whether that is written depends on timing.
  const leaves = { metadata: { labels: { app: 'elsewhere' } } };
  await pair.apply((client) => client.patch({ resource: 'pods', namespace, name: 'web-1' }, leaves));
  await rest();
}

async function rest(): Promise<void> {
  const { differences } = await pair.converge();
  expect(differences.map(describeDifference).join('\n')).toBe('');
}

const ofControllers = ({ name, labels }: Sample): boolean =>
  name.startsWith(slices) ||
  name.startsWith(mirroring) ||
  (name.startsWith('workqueue_') && queues.includes(labels.name ?? ''));

/** Series without values; buckets as numbers, because 0.000001 and 1e-06 are equal. */
function series(scrape: Scrape): string[] {
  const described = scrape.samples.filter(ofControllers).map(({ name, labels }) => {
    const { le, ...others } = labels;
    const sorted = Object.entries(others).sort(([a], [b]) => (a < b ? -1 : 1));
    return `${name} ${JSON.stringify(sorted)}${le === undefined ? '' : ` ≤ ${Number(le.replace('+Inf', 'Infinity'))}`}`;
  });
  return [...new Set(described)].sort();
}

function values(scrape: Scrape, names: readonly string[]): Record<string, number> {
  const chosen = scrape.samples.filter(({ name }) => names.includes(name));
  return Object.fromEntries(chosen.map(({ name, labels, value }) => [`${name} ${JSON.stringify(labels)}`, value]));
}

describe('scrapes of Sluice and of kube-controller-manager', () => {
  it('have the same series: names, labels and buckets (I1, I2, I4)', () => {
    const ours = new Set(series(sluice));
    const theirs = series(upstream);
    expect(theirs.length).toBeGreaterThan(150);
    expect(theirs.filter((one) => !ours.has(one))).toEqual([]);
  });

  it('have the same types', () => {
    for (const [name, type] of upstream.types) {
      if (name.startsWith(slices) || name.startsWith(mirroring))
        expect([name, sluice.types.get(name)]).toEqual([name, type]);
    }
  });

  it.each([
    [slices, ['endpoints_desired', 'num_endpoint_slices', 'desired_endpoint_slices']],
    [slices, ['services_count_by_traffic_distribution', 'changes', 'endpointslices_changed_per_sync_sum']],
    [slices, ['endpoints_added_per_sync_sum', 'endpoints_removed_per_sync_sum']],
    [mirroring, ['endpoints_desired', 'num_endpoint_slices', 'desired_endpoint_slices', 'changes']],
    [mirroring, ['endpoints_added_per_sync_sum', 'endpoints_removed_per_sync_sum', 'addresses_skipped_per_sync_sum']],
  ])('have the same values: %s %j', (prefix, names) => {
    const full = names.map((name) => prefix + name);
    const theirs = values(upstream, full);
    expect(Object.keys(theirs).length).toBeGreaterThanOrEqual(names.length);
    expect(values(sluice, full)).toEqual(theirs);
  });
});
