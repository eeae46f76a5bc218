import { get } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
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
 * The same workload on kube-controller-manager and on Sluice, and what a scrape of either shows: the same metrics by
 * name, type, labels and buckets, and where the numbers do not depend on how work is cut into syncs, the same numbers.
 */
let pair: Pair;
let genuine: Scrape;
let sluice: Scrape;

const slices = 'endpoint_slice_controller_';
const mirroring = 'endpoint_slice_mirroring_controller_';
const ports = portSpecs({ name: 'http', port: 80, targetPort: 8080 });
const queues = ['endpoint', 'endpoint_slice', 'endpoint_slice_mirroring'];

beforeAll(async () => {
  pair = await Pair.start();
  const [genuinePort, sluicePort] = await freePorts(2);
  await pair.startGenuine({
    args: [
      '--bind-address=127.0.0.1',
      `--secure-port=${genuinePort}`,
      '--authorization-always-allow-paths=/metrics,/healthz',
    ],
  });
  await pair.startSluice({ args: ['--metrics-bind-address', `127.0.0.1:${sluicePort}`] });
  await workload();
  genuine = parseScrape(await scrapeGenuine(`https://127.0.0.1:${genuinePort}/metrics`));
  sluice = parseScrape(await (await fetch(`http://127.0.0.1:${sluicePort}/metrics`)).text());
});

afterAll(() => pair?.stop());

/** It shows a certificate that it made itself. */
function scrapeGenuine(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { rejectUnauthorized: false }, (response) => resolve(text(response))).once('error', reject);
  });
}

/** Services of one family only: of others, upstream counts the family that came last (I1). */
async function workload(): Promise<void> {
  await pair.apply((client) => client.create('namespaces', namespaceObject(namespace)));
  await applyNode(pair, 'a-1', 'a');
  for (let i = 1; i <= 5; i++) await applyPod(pair, pod(`web-${i}`, 'web', `10.1.0.${i}`));
  // Both have to know the Pods before the Services come, so that each Service is written once.
  await sleep(1_000);
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
  // Leaves its Services in one step. A Pod that is deleted terminates first, and whether that is written depends on speed.
  const leaves = { metadata: { labels: { app: 'elsewhere' } } };
  await pair.apply((client) => client.patch({ resource: 'pods', namespace, name: 'web-1' }, leaves));
  await rest();
}

async function rest(): Promise<void> {
  const { differences } = await pair.rest();
  expect(differences.map(describeDifference).join('\n')).toBe('');
}

const ofControllers = ({ name, labels }: Sample): boolean =>
  name.startsWith(slices) ||
  name.startsWith(mirroring) ||
  (name.startsWith('workqueue_') && queues.includes(labels.name ?? ''));

/** Each series without its value; buckets as numbers, since 0.000001 and 1e-06 are the same. */
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

describe('a scrape of Sluice and one of kube-controller-manager', () => {
  it('show the same series: names, labels and buckets (I1, I2, I4)', () => {
    const ours = new Set(series(sluice));
    const theirs = series(genuine);
    expect(theirs.length).toBeGreaterThan(150);
    expect(theirs.filter((one) => !ours.has(one))).toEqual([]);
  });

  it('show them with the same types', () => {
    for (const [name, type] of genuine.types) {
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
  ])('show the same numbers: %s %j', (prefix, names) => {
    const full = names.map((name) => prefix + name);
    const theirs = values(genuine, full);
    expect(Object.keys(theirs).length).toBeGreaterThanOrEqual(names.length);
    expect(values(sluice, full)).toEqual(theirs);
  });
});
