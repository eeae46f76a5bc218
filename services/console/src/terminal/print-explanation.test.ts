import { describe, expect, test } from 'vitest';
import { markedFormat } from '../testing/marked-format.ts';
import type { PodDetail, PodView, ServiceDetail } from '../view/schemas.ts';
import { printPod, printPodDetail, printService } from './print-explanation.ts';
import { textFormatFor } from './text.ts';

const noon = new Date(2026, 0, 1, 12, 0, 0).getTime();
const now = noon + 60_000;
const plain = textFormatFor({}, now);

const marked = markedFormat(now);

const pod = (given: Partial<PodView> = {}): PodView => ({
  ...{ pod: 'web-1', verdict: 'ready', reasons: ['its condition Ready is True'], ips: [], node: '', zone: '' },
  ...{ placements: [], deletingSince: null, lastChange: null, unready: null, readinessChanges: 0 },
  ...given,
});

const summary: ServiceDetail['summary'] = {
  ...{ cluster: 'c', clusterName: 'production', namespace: 'shop', name: 'web', status: 'ok', problem: '' },
  ...{
    reason: '',
    pods: 1,
    endpoints: 2,
    ready: 2,
    terminating: 0,
    slices: 1,
    lastChangeAt: null,
    lastLatencyMs: null,
  },
};
const detail = (given: Partial<ServiceDetail> = {}): ServiceDetail => ({
  ...{ at: now, outage: null, live: true, summary, joinedAs: null, kind: null, notes: [] },
  ...{ pods: [], slices: [], endpoints: null },
  ...given,
});
const outage = { what: 'production', since: noon, reason: 'connection refused' };

describe('a Service', () => {
  test('is printed with its counts, its last write, its notes and its Pods', () => {
    const notes = ['The Service is being deleted.', 'Sluice repaired it at 2026-01-01T00:00:00Z.'];
    const written = { ...summary, lastChangeAt: noon, lastLatencyMs: 12 };
    const lines = printService(detail({ notes, summary: written, pods: [pod()] }), plain).split('\n');
    expect(lines).toEqual([
      'Service shop/web in production, now: ok, 2 of 2 endpoints ready in 1 slice',
      'last written 12:00:00.000, 12 ms after its cause',
      'The Service is being deleted.',
      expect.stringMatching(/^Sluice repaired it at [0-9 :-]+\.$/),
      'web-1: ready',
      '  its condition Ready is True',
      '',
    ]);
  });

  test.each<[string, Partial<typeof summary>]>([
    ['ok, 2 of 2 endpoints ready in 2 slices', { slices: 2 }],
    ['empty, 0 of 0 endpoints ready in 0 slices', { status: 'empty', ready: 0, endpoints: 0, slices: 0 }],
    ['a port is missing', { status: 'empty', problem: 'a port is missing' }],
    ['degraded: a port is missing', { status: 'degraded', problem: 'a port is missing' }],
    ['degraded, 1 of 2 endpoints ready in 1 slice', { status: 'degraded', ready: 1 }],
    ['pending, 2 of 2 endpoints ready in 1 slice', { status: 'pending', problem: 'a port is missing' }],
  ])('%s', (text, given) => {
    expect(printService(detail({ summary: { ...summary, ...given } }), plain)).toBe(
      `Service shop/web in production, now: ${text}\nNo Pods.\n`,
    );
  });

  test('was written at a time without a cause', () => {
    expect(printService(detail({ summary: { ...summary, lastChangeAt: noon } }), plain)).toContain(
      '\nlast written 12:00:00.000\n',
    );
  });

  test('at a past time has neither counts nor a last write', () => {
    const past = detail({ live: false, at: noon, summary: { ...summary, lastChangeAt: noon - 1 } });
    expect(printService(past, plain)).toBe('Service shop/web in production, at 12:00:00.000\nNo Pods.\n');
  });

  test('is shown with the Pods first that get no traffic', () => {
    const verdicts = ['ready', 'unknown', 'terminating', 'not ready', 'excluded', 'pending'] as const;
    const pods = verdicts.map((verdict) => pod({ pod: `web ${verdict}`, verdict, reasons: [] }));
    const printed = printService(detail({ pods }), plain).split('\n').slice(1, -1);
    expect(printed.map((line) => line.split(':')[0])).toEqual([
      ...['web pending', 'web excluded', 'web not ready', 'web terminating', 'web unknown', 'web ready'],
    ]);
  });

  test('has an outage first, in red, and its name in bold', () => {
    const lines = printService(detail({ outage }), marked).split('\n');
    expect(lines[0]).toBe(
      '<red:production has not answered since 12:00:00 (connection refused); the state below is from that time>',
    );
    expect(lines[1]).toMatch(/^<bold:Service shop\/web in production, as of 12:00:00: ok/);
  });
});

describe('a Pod', () => {
  test.each<[string, Partial<PodView>]>([
    ['<green:web-1: ready>', {}],
    ['<yellow:web-1: pending>', { verdict: 'pending' }],
    ['<red:web-1: excluded>', { verdict: 'excluded' }],
    ['<red:web-1: not ready>', { verdict: 'not ready' }],
    ['<dim:web-1: not a Pod of this Service>', { verdict: 'unknown' }],
    [
      '<dim:web-1: deleted>',
      { verdict: 'unknown', lastChange: { type: 'removed', at: noon, causes: [], latencyMs: null } },
    ],
    [
      '<dim:web-1: not a Pod of this Service>',
      { verdict: 'unknown', lastChange: { type: 'added', at: noon, causes: [], latencyMs: null } },
    ],
    ['<green:web-1: ready (node node-a)>', { node: 'node-a' }],
    ['<green:web-1: ready (zone a)>', { zone: 'a' }],
    ['<green:web-1: ready (node node-a, zone a)>', { node: 'node-a', zone: 'a' }],
  ])('%s', (text, given) => {
    expect(printPod(pod(given), marked).split('\n')[0]).toBe(text);
  });

  test('is printed with its endpoints, their hints and the reasons', () => {
    const endpoint = { ready: true, serving: true, terminating: false, zone: 'a', addressType: 'IPv4', hints: [] };
    const placements = [
      { ...endpoint, slice: 'web-a', addresses: ['10.0.0.1', '10.0.0.2'] },
      { ...endpoint, slice: 'web-b', addresses: ['fd00::1'], hints: ['a', 'node:n1'] },
    ];
    expect(printPod(pod({ placements, reasons: ['one', 'two'] }), plain)).toBe(
      'web-1: ready\n  10.0.0.1, 10.0.0.2 in web-a\n  fd00::1 in web-b, for a, node:n1\n  one\n  two\n',
    );
  });

  test('flaps if its readiness changed three times in a minute', () => {
    expect(printPod(pod({ readinessChanges: 2 }), plain)).not.toContain('readiness');
    expect(printPod(pod({ readinessChanges: 3 }), plain)).toContain(
      '\n  its readiness changed 3 times in the last minute\n',
    );
  });

  test('says since when it is being deleted', () => {
    const line = (deletingSince: number) => printPod(pod({ deletingSince }), plain).split('\n')[2];
    expect(line(noon)).toBe('  deletion started at 12:00:00.000 (60 s ago)');
    expect(line(now + 5_000), 'of a clock that is ahead').toBe('  deletion started at 12:01:05.000 (0.0 ms ago)');
  });

  const write = { at: noon, causes: ['Pod shop/web-1 deleted', 'Node n deleted'], latencyMs: 12 };

  test.each([
    ['was added', 'added'],
    ['was removed', 'removed'],
    ['changed', 'changed'],
  ] as const)('says when and why its endpoint %s', (verb, type) => {
    expect(printPod(pod({ lastChange: { ...write, type } }), plain).split('\n')[2]).toBe(
      `  endpoint ${verb} at 12:00:00.000 (60 s ago), 12 ms after the first cause: Pod shop/web-1 deleted, Node n deleted`,
    );
  });

  test('says what held the write of its endpoint, if it was slow', () => {
    const spent = [{ where: 'batch period', ms: 1_800 } as const, { where: 'API server', ms: 60 } as const];
    const slow = { ...write, at: noon + 1_000, latencyMs: 1_860, spent };
    const line = '    took 1.9 s: held 1.8 s by the batch period, API server 60 ms';
    expect(printPod(pod({ lastChange: { ...slow, type: 'added' } }), plain).split('\n')[3]).toBe(line);
    const lastChange = { ...write, type: 'changed' } as const;
    expect(printPod(pod({ unready: slow, lastChange }), plain).split('\n')[3]).toBe(line);
  });

  test('says when its endpoint changed if neither the cause nor the latency is known', () => {
    const lastChange = { at: now + 5, causes: [], latencyMs: null, type: 'changed' } as const;
    expect(printPod(pod({ lastChange }), plain).split('\n')[2]).toBe('  endpoint changed at 12:01:00.005 (0.0 ms ago)');
  });

  test('says when its endpoint became not ready, unless that is the last change', () => {
    const unready = { ...write, at: noon + 1_000, latencyMs: null };
    const lastChange = { ...write, type: 'changed' } as const;
    expect(printPod(pod({ unready, lastChange }), plain).split('\n').slice(2, 4)).toEqual([
      '  endpoint became not ready at 12:00:01.000 (59.0 s ago): Pod shop/web-1 deleted, Node n deleted',
      expect.stringMatching(/^ {2}endpoint changed at 12:00:00.000/),
    ]);
    expect(printPod(pod({ unready: write, lastChange }), plain)).not.toContain('became not ready');
    expect(printPod(pod({ unready: write }), plain)).toContain('became not ready');
  });
});

test('a Pod on its own comes below its Service, the time and an outage', () => {
  const alone: PodDetail = { ...pod(), outage: null };
  const heading = { service: 'shop/web', clusterName: 'production', at: undefined };
  const first = (text: string) => text.split('\n')[0];
  expect(first(printPodDetail(alone, heading, marked))).toBe('<bold:Service shop/web in production, now>');
  expect(first(printPodDetail(alone, { ...heading, at: noon }, marked))).toBe(
    '<bold:Service shop/web in production, at 12:00:00.000>',
  );
  expect(
    printPodDetail({ ...alone, outage }, heading, plain)
      .split('\n')
      .slice(0, 3),
  ).toEqual([
    'production has not answered since 12:00:00 (connection refused); the state below is from that time',
    'Service shop/web in production, as of 12:00:00',
    'web-1: ready',
  ]);
});
