import { expect, test } from 'vitest';
import { Statistics } from './display.ts';
import { JsonDisplay } from './json-display.ts';
import { anApplied } from './testing/applied.ts';

function lines(show: (display: JsonDisplay) => void): string[] {
  let out = '';
  show(new JsonDisplay((line) => (out += line)));
  expect(out.endsWith('\n')).toBe(true);
  return out.slice(0, -1).split('\n');
}

test('every event is one JSON object on one line', () => {
  const all = lines((display) => {
    display.started(['with\nnewline', '"quotes"']);
    display.applied(anApplied({ message: 'line\nbreak', status: 'rejected', causes: ['a\u2028b'] }));
    display.applied(anApplied({ slices: [] }));
    display.ended(new Statistics(), 1.5);
  });
  expect(all).toHaveLength(4);
  expect(all.map((line) => JSON.parse(line).event)).toEqual(['started', 'plan', 'plan', 'summary']);
});

test('the keys and values of a plan', () => {
  const [line = ''] = lines((display) =>
    display.applied(anApplied({ causes: ['x', 'y'], more: 2, latencyMs: 3.21987 })),
  );
  expect(JSON.parse(line)).toEqual({
    event: 'plan',
    time: '2026-01-01T12:00:00.500Z',
    cluster: 'sim',
    namespace: 'shop',
    service: 'web',
    controller: 'endpointslice',
    status: 'applied',
    causes: ['x', 'y'],
    moreCauses: 2,
    writes: [
      {
        verb: 'create',
        kind: 'EndpointSlice',
        name: 'web-x',
        applied: true,
        endpoints: 2,
        ready: 1,
        addressType: 'IPv4',
      },
    ],
    latencyMs: 3.22,
    retries: 0,
  });
});

test('a failed plan has its reason', () => {
  const [line = ''] = lines((display) => display.applied(anApplied({ status: 'conflict', message: 'modified' })));
  expect(JSON.parse(line)).toMatchObject({
    status: 'conflict',
    message: 'modified',
    writes: [{ applied: false, error: 'modified' }],
  });
});

test('the keys of the summary are the same with and without plans', () => {
  const statistics = new Statistics();
  statistics.add(anApplied({ latencyMs: 4.00048828125 }));
  const [before = '', after = ''] = lines((display) => {
    display.ended(new Statistics(), 10.4);
    display.ended(statistics, 10.4, [{ name: 'east', phase: 'unavailable' }]);
  });
  expect(JSON.parse(before)).toMatchObject({ event: 'summary', ranMs: 10, plans: 0, latencyMs: null });
  expect(JSON.parse(after)).toMatchObject({
    clusters: [{ name: 'east', phase: 'unavailable' }],
    plans: 1,
    latencyMs: { p50: 4, p99: 4, max: 4 },
  });
  expect(Object.keys(JSON.parse(before))).toEqual(Object.keys(JSON.parse(after)));
});
