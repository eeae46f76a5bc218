import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Change, encodeMessage, type Fact, formatServiceKey } from '@sluice/messages';
import { type EndpointSlice, endpointSliceController, managedByLabel, serviceNameLabel } from '@sluice/model';
import { aPodNamed, aService, aSlice } from '@sluice/model/testing';
import { silentLogger } from '@sluice/platform';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exportRecording } from './export-recording.ts';
import { filesIn } from './file-names.ts';
import { findProblems } from './problems/find-problems.ts';
import { RecordConverter } from './record-converter.ts';
import { RecordingDirectory } from './recording-directory.ts';
import { questionsTo, RecordingReader } from './recording-reader.ts';
import type { NewRecord } from './records.ts';

const cluster = 'secret-uid-of-kube-system';
const namespace = 'secret-shop';
const limits = { maxBytes: 1024 ** 3, retentionMs: 1e12, minFreeBytes: 0 };

/** One event of a Service or its objects. */
const steps = fc.array(
  fc.record({
    service: fc.constantFrom('secret-web', 'secret-db'),
    afterMs: fc.constantFrom(10, 400, 31_000),
    pod: fc.integer({ min: 0, max: 2 }),
    what: fc.constantFrom(
      'ready',
      'ready',
      'unready',
      'unready',
      'deleted',
      'slice',
      'slice',
      'selector',
      'port',
      'lost',
      'recovered',
    ),
    manager: fc.constantFrom('kube-controller-manager', 'secret-operator'),
  }),
  { minLength: 5, maxLength: 40 },
);
type Steps = typeof steps extends fc.Arbitrary<infer T> ? T : never;

const podOf = (service: string, number: number, isReady: boolean): Fact => {
  const name = `${service}-${number}`;
  const ip = `203.0.113.${number + (service === 'secret-web' ? 10 : 20)}`;
  const pod = aPodNamed(name, {
    ...{ namespace, uid: `secret-uid-${name}`, ip, ips: [ip], nodeName: `secret-node-${number}`, ready: isReady },
    ...(!isReady && { unready: { status: 'False', reason: 'ContainersNotReady', message: 'no secret image' } }),
    ports: [{ name: 'secret-port', protocol: 'TCP', containerPort: 8080 }],
  });
  return { kind: 'pod', name, pod, node: { zone: 'secret-zone' } };
};

const serviceOf = (name: string, given: object = {}): Fact => {
  const identity = { namespace, name, uid: `secret-uid-${name}`, clusterIP: '203.0.113.1' };
  const ports = [{ name: 'secret-http', protocol: 'TCP', port: 80, targetPort: 'secret-port', appProtocol: null }];
  const service = aService({ ...identity, ports, selector: { 'secret-app': name }, ...given });
  return { kind: 'service', service, similarPods: { label: `secret-app=${name}-typo`, pods: 2 } };
};

function sliceOf(service: string, pods: ReadonlyMap<number, boolean>): EndpointSlice {
  const labels = { [serviceNameLabel]: service, [managedByLabel]: endpointSliceController };
  return aSlice(`${service}-slice`, {
    metadata: { name: `${service}-slice`, namespace, uid: `secret-uid-${service}-slice`, labels },
    endpoints: [...pods].map(([number, ready]) => {
      const fact = podOf(service, number, ready);
      const { ip = '', name = '', uid = '', nodeName = '' } = (fact.kind === 'pod' && fact.pod) || {};
      const targetRef = { kind: 'Pod', namespace, name, uid };
      const conditions = { ready, serving: ready, terminating: false };
      return { addresses: [ip], conditions, targetRef, nodeName, zone: 'secret-zone' };
    }),
  });
}

/** Records what the steps change. Slices show how the Pods are when they are written. */
function record(directory: string, events: Steps): number {
  const recording = new RecordingDirectory(directory, { version: '1', limits });
  recording.nameCluster(cluster, 'secret-prod');
  recording.append([], 1_000);
  const converter = new RecordConverter(silentLogger);
  const records: NewRecord[] = [];
  const resourceVersions = { endpoints: '1', endpointslices: '1' };
  const pods = { 'secret-web': new Map<number, boolean>(), 'secret-db': new Map<number, boolean>() };
  let at = 1_000;
  let sequence = 0;
  const add = (service: string, fact: Fact, description: string, given: Partial<Change> = {}) => {
    const key = { cluster, namespace, service };
    const message: Change = {
      ...{ kind: 'change', key, stamp: { epoch: 1, sequence: ++sequence }, facts: [fact], resourceVersions },
      causes: { first: [{ description, observedAt: at }], more: 0 },
      ...given,
    };
    const bus = { key: formatServiceKey(key), id: '', headers: {}, payload: encodeMessage(message), message };
    records.push(converter.convert('changes', bus, at) ?? expect.unreachable());
  };
  const snapshot = { first: true, last: true, initial: true, resourceVersions };
  for (const name of ['secret-web', 'secret-db']) add(name, serviceOf(name), 'watcher started', { snapshot });
  for (const { service, afterMs, pod, what, manager } of events) {
    at += afterMs;
    const known = pods[service];
    const name = `${namespace}/${service}-${pod}`;
    if (what === 'ready' || what === 'unready') {
      known.set(pod, what === 'ready');
      add(service, podOf(service, pod, what === 'ready'), `Pod ${name} became ${what === 'ready' ? '' : 'not '}ready`);
    } else if (what === 'deleted') {
      known.delete(pod);
      add(service, { kind: 'pod', name: `${service}-${pod}`, pod: null, node: null }, `Pod ${name} deleted`);
    } else if (what === 'lost' || what === 'recovered') {
      const fact = podOf(service, pod, known.get(pod) === true);
      const condition = what === 'lost' ? 'not ready (NodeStatusUnknown)' : '';
      const node = { zone: 'secret-zone', condition };
      add(service, { ...fact, node } as Fact, `Node secret-node-${pod} became ${condition || 'ready'}`);
    } else if (what === 'slice') {
      const slice = sliceOf(service, known);
      const uid = slice.metadata.uid ?? '';
      const fact = { kind: 'slice', name: slice.metadata.name, slice, uid, manager } as const;
      add(service, fact, `EndpointSlice ${namespace}/${slice.metadata.name} changed`);
    } else {
      const given = what === 'selector' ? { selector: { 'secret-app': 'secret-typo' } } : { ports: [] };
      add(service, serviceOf(service, given), `Service ${namespace}/${service} changed`);
    }
  }
  at += 1_000;
  recording.append(records, at);
  recording.close(at, converter.open);
  return at;
}

/** What a recording answers, with each name replaced by the number of its first occurrence. */
async function answers(directory: string, to: number, names: RegExp): Promise<unknown> {
  const reader = new RecordingReader(directory);
  const query = { keys: '%', from: 0, to };
  const numbers = new Map<string, number>();
  const propagations = {
    ...query,
    atLeastMs: 0,
    isOpen: false,
    isStartKnown: false,
    sort: 'latest',
    limit: 1_000,
  } as const;
  const found = [
    await findProblems(questionsTo(reader), { ...query, isOpen: true, all: true }),
    await findProblems(questionsTo(reader), { ...query, isOpen: false, all: true }),
    reader.nodeDisruptions({ ...query, limit: 100 }),
    reader.propagations(propagations),
    reader.readinessChanges({ ...query, limit: 100 }),
    reader.managerChanges(query),
    [...reader.removals(query).removals],
    [...new Set([...reader.recordsAfter(0)].map(({ key }) => key))].map((key) => reader.pods(key, query, 10_000)),
  ];
  reader.close();
  const number = (name: string) => `#${numbers.get(name) ?? numbers.set(name, numbers.size).size - 1}`;
  return JSON.parse(JSON.stringify(found).replaceAll(names, number));
}

/** All texts and payloads of a recording. */
function contentOf(directory: string): string {
  const texts = filesIn(directory).flatMap(({ path }) => {
    const database = new DatabaseSync(path, { readOnly: true });
    const rows = ['services', 'clusters', 'texts', 'manager_changes', 'recording'].map((table) =>
      JSON.stringify(database.prepare(`SELECT * FROM ${table}`).all()),
    );
    database.close();
    return rows;
  });
  const reader = new RecordingReader(directory);
  for (const { payload } of reader.recordsAfter(0)) texts.push(new TextDecoder().decode(payload));
  reader.close();
  return texts.join('\n');
}

const originals = /secret[\w-]*|203\.0\.113\.\d+/g;
const pseudonyms =
  /(?:cluster|endpointslice|label|manager|message|namespace|node|owner|pod|port|service|value|zone)-\d+|0{8}-0000-4000-8000-\d{12}|10\.\d+\.\d+\.\d+/g;

test('a redacted export answers the same questions in the same way, and no name of the cluster remains', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (events) => {
      const root = mkdtempSync(join(tmpdir(), 'sluice-redacted-'));
      const [source, plain, redacted] = [join(root, 'source'), join(root, 'plain'), join(root, 'redacted')];
      try {
        const end = record(source, events);
        const reader = new RecordingReader(source);
        const selection = {
          period: { from: 1_000, to: end },
          isWanted: () => true,
          version: '1',
          logger: silentLogger,
        };
        exportRecording(reader, { ...selection, directory: plain, isRedacted: false });
        exportRecording(reader, { ...selection, directory: redacted, isRedacted: true });
        reader.close();
        expect(contentOf(plain)).toMatch(/secret-prod.*203\.0\.113/s);
        expect(contentOf(redacted)).not.toMatch(/secret|203\.0\.113/);
        expect(await answers(redacted, end, pseudonyms)).toEqual(await answers(plain, end, originals));
      } finally {
        rmSync(root, { recursive: true });
      }
    }),
    { numRuns: 20 },
  );
});
