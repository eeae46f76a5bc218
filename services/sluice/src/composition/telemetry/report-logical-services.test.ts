import { History } from '@sluice/console';
import { ClusterLog, endpoint, served } from '@sluice/logical-services/testing';
import { silentLogger, VirtualClock } from '@sluice/platform';
import { Metrics } from '@sluice/telemetry';
import { beforeEach, expect, test } from 'vitest';
import { backgroundIndex, reportLogicalServices } from './report-logical-services.ts';

let clock: VirtualClock;
let metrics: Metrics;
let history: History;
let names: string[];
let stop: () => void;

beforeEach(() => {
  clock = new VirtualClock(0);
  metrics = new Metrics({ clusters: new Map() });
  history = new History({ clock });
  names = ['east', 'west'];
  for (const name of names) {
    const log = new ClusterLog(name);
    log.snapshot('web', served([endpoint('a', name === 'east')]));
    for (const { key, message } of log.records) history.logicalServices.apply(key, message, 0);
  }
  const clusters = () => names.map((name) => ({ identity: name, name, version: '', server: '', state: 'watched' }));
  const policy = { action: 'keep', maxAgeMs: 0 } as const;
  const observed = { history, sources: { clusters }, policy, index: backgroundIndex(clock) };
  stop = reportLogicalServices({ ...observed, metrics, clock, logger: silentLogger });
});

async function reported(): Promise<readonly string[]> {
  const { body } = await metrics.expose(undefined);
  return body.split('\n').filter((line) => line.startsWith('sluice_logical_services{'));
}

async function nextCount(): Promise<void> {
  clock.step();
  await new Promise((resolve) => setImmediate(resolve));
}

test('counts Services by condition, also those of which there are none', async () => {
  expect(await reported()).toEqual([]);
  await nextCount();
  const lines = await reported();
  expect(lines).toHaveLength(6);
  expect(lines).toContain('sluice_logical_services{condition="ServedByOneCluster",severity="warning"} 1');
  expect(lines).toContain('sluice_logical_services{condition="NotServed",severity="critical"} 0');
  stop();
  expect(await reported()).toEqual([]);
});

test('reports nothing for one cluster', async () => {
  history.logicalServices.apply('west', { kind: 'clusterRemoved', cluster: 'west', epoch: 9 }, 0);
  names = ['east'];
  await nextCount();
  expect(await reported()).toEqual([]);
  stop();
});
