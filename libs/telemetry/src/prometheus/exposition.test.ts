import { Counter as PromCounter } from 'prom-client';
import { beforeEach, describe, expect, test } from 'vitest';
import { Counter } from './counter.ts';
import { Exposition } from './exposition.ts';
import { Histogram } from './histogram.ts';
import { observableCounter, observableGauge } from './metrics.ts';
import type { Labels } from './series-by-labels.ts';

let exposition: Exposition;

beforeEach(() => {
  exposition = new Exposition();
});

describe('the text format', () => {
  test('of a counter', async () => {
    const plans = new Counter(exposition, { name: 'plans_total', help: 'Plans', labelNames: ['controller', 'status'] });
    plans.inc({ controller: 'endpoints', status: 'applied' });
    plans.inc({ controller: 'endpoints', status: 'applied' }, 3);
    plans.inc({ controller: 'a "b"\\\n', status: '' }, 0);
    expect(await exposition.text()).toBe(
      [
        '# HELP plans_total Plans',
        '# TYPE plans_total counter',
        'plans_total{controller="endpoints",status="applied"} 4',
        'plans_total{controller="a \\"b\\"\\\\\\n",status=""} 0\n',
      ].join('\n'),
    );
  });

  test('of a histogram', async () => {
    const options = { name: 'seconds', help: 'Seconds', labelNames: ['a'], buckets: [1e-8, 0.5, 300] };
    const seconds = new Histogram(exposition, options);
    for (const value of [0, 1e-8, 0.5, 0.6, 301]) seconds.observe({ a: 'x' }, value);
    expect(await exposition.text()).toBe(
      [
        '# HELP seconds Seconds',
        '# TYPE seconds histogram',
        'seconds_bucket{le="1e-8",a="x"} 2',
        'seconds_bucket{le="0.5",a="x"} 3',
        'seconds_bucket{le="300",a="x"} 4',
        'seconds_bucket{le="+Inf",a="x"} 5',
        'seconds_sum{a="x"} 302.10000001',
        'seconds_count{a="x"} 5\n',
      ].join('\n'),
    );
  });

  test('contains what was added between scrapes, however much', async () => {
    const plans = new Counter(exposition, { name: 'plans_total', help: 'Plans', labelNames: ['status'] });
    const seconds = new Histogram(exposition, { name: 'seconds', help: 'Seconds', labelNames: ['a'], buckets: [1] });
    const conflicts = plans.series({ status: 'conflict' });
    seconds.series({ a: 'y' });
    for (const count of [100, 7]) {
      for (let i = 0; i < count; i++) {
        conflicts.inc();
        seconds.observe({ a: 'x' }, 0.5);
      }
      await exposition.text();
    }
    const text = await exposition.text();
    expect(text).toContain('plans_total{status="conflict"} 107\n');
    expect(text).toContain('seconds_bucket{le="1",a="x"} 107\n');
    expect(text).toContain('seconds_sum{a="x"} 53.5\nseconds_count{a="x"} 107\n');
    expect(text).toContain('seconds_count{a="y"} 0\n');
  });

  test('survives values that cannot be added, which throw where they are added', async () => {
    const plans = new Counter(exposition, { name: 'plans_total', help: 'Plans', labelNames: [] });
    const seconds = new Histogram(exposition, { name: 'seconds', help: 'Seconds', labelNames: [], buckets: [1] });
    for (const value of [-1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => plans.inc({}, value)).toThrow(RangeError);
    expect(() => seconds.observe({}, Number.NaN)).toThrow(RangeError);
    expect(await exposition.text()).toContain('plans_total 0\n');
  });

  test('of metrics without labels, before anything happens', async () => {
    new Counter(exposition, { name: 'c', help: 'h', labelNames: [] });
    new Histogram(exposition, { name: 'd', help: 'h', labelNames: [], buckets: [1] });
    observableGauge(exposition, { name: 'e', help: 'h', labelNames: [] }, () => {});
    expect(await exposition.text()).toBe(
      [
        '# HELP c h\n# TYPE c counter\nc 0\n',
        '# HELP d h\n# TYPE d histogram\nd_bucket{le="1"} 0\nd_bucket{le="+Inf"} 0\nd_sum 0\nd_count 0\n',
        '# HELP e h\n# TYPE e gauge\n',
      ].join('\n'),
    );
  });

  test('of observable metrics contains what their callbacks report at that scrape', async () => {
    let reported: readonly (readonly [Labels, number])[] = [
      [{ a: 'x' }, 1],
      [{ a: 'y' }, 2],
      [{ a: 'x' }, 3],
    ];
    observableGauge(exposition, { name: 'g', help: 'h', labelNames: ['a'] }, async (report) => {
      for (const [labels, value] of reported) report(value, labels);
    });
    observableCounter(exposition, { name: 'c_total', help: 'h', labelNames: ['a'] }, () => reported.slice(1));
    expect(await exposition.text()).toContain('g{a="x"} 3\ng{a="y"} 2\n\n');
    expect(await exposition.text()).toContain('c_total{a="y"} 2\nc_total{a="x"} 3\n');
    reported = [[{ a: 'z' }, 0]];
    expect(await exposition.text()).toContain('# TYPE g gauge\ng{a="z"} 0\n\n');
  });

  test('is the same in two concurrent scrapes', async () => {
    const report = async (to: (value: number) => void) => {
      await Promise.resolve();
      to(1);
    };
    observableGauge(exposition, { name: 'g', help: 'h', labelNames: [] }, report);
    const [first, second] = await Promise.all([exposition.text(), exposition.text()]);
    expect([first, second]).toEqual(Array(2).fill('# HELP g h\n# TYPE g gauge\ng 1\n'));
  });
});

describe('OpenMetrics', () => {
  beforeEach(() => {
    new Counter(exposition, { name: 'plans_total', help: 'h', labelNames: ['a'] }).inc({ a: 'x' }, 0);
    new Counter(exposition, { name: 'endpoint_slice_controller_changes', help: 'h', labelNames: [] });
    const seconds = new Histogram(exposition, {
      exemplars: true,
      name: 'seconds',
      help: 'h',
      labelNames: ['a'],
      buckets: [1],
    });
    seconds.observe({ a: 'x' }, 0.5, 'abc');
    seconds.observe({ a: 'x' }, 0.25, undefined);
    seconds.observe({ a: 'x' }, 2, 'def');
  });

  test('has exemplars and the metric names of the text format', async () => {
    const timeless = (await exposition.openMetrics()).replaceAll(/ \d{9,}(\.\d+)?$/gm, ' NOW');
    expect(timeless).toBe(
      [
        '# HELP plans h\n# TYPE plans counter\nplans_total{a="x"} 0',
        '# HELP endpoint_slice_controller_changes h\n# TYPE endpoint_slice_controller_changes unknown',
        'endpoint_slice_controller_changes 0',
        '# HELP seconds h\n# TYPE seconds histogram',
        'seconds_bucket{le="1",a="x"} 2 # {trace_id="abc"} 0.5 NOW',
        'seconds_bucket{le="+Inf",a="x"} 3 # {trace_id="def"} 2 NOW',
        'seconds_sum{a="x"} 2.75\nseconds_count{a="x"} 3',
        '# EOF\n',
      ].join('\n'),
    );
  });

  test('does not change the text format', async () => {
    const before = await exposition.text();
    await exposition.openMetrics();
    expect(await exposition.text()).toBe(before);
    expect(before).not.toContain('trace_id');
  });

  test.each([
    [undefined, false],
    ['*/*', false],
    ['text/plain', false],
    ['application/openmetrics-text', true],
    ['application/openmetrics-text; version=1.0.0; charset=utf-8', true],
    ['application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=0.0.4;q=0.3', false],
    ['application/openmetrics-text;version=1.0.0;q=0.2,text/plain;version=0.0.4;q=0.3', false],
    [
      'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
      true,
    ],
  ])('is served to a scraper that accepts %s: %s', async (accept, isOpenMetrics) => {
    const { contentType, body } = await exposition.expose(accept);
    expect(contentType.startsWith('application/openmetrics-text')).toBe(isOpenMetrics);
    expect(body.endsWith('# EOF\n')).toBe(isOpenMetrics);
  });
});

test('a name can be registered once', () => {
  new Counter(exposition, { name: 'c', help: 'h', labelNames: [] });
  const again = () => observableGauge(exposition, { name: 'c', help: 'h', labelNames: [] }, () => {});
  expect(again).toThrow('A metric with the name c has already been registered');
  expect(() => new PromCounter({ name: 'c', help: 'h', registers: [exposition.registry] })).toThrow('already');
});

test('unknown labels and values that are not numbers are errors', () => {
  const seconds = new Histogram(exposition, { name: 'd', help: 'h', labelNames: ['a'] });
  expect(() => seconds.observe({ b: 'x' }, 1)).toThrow('label "b" is not included');
  expect(() => seconds.observe({ a: 'x' }, Number.NaN)).toThrow('not a valid number');
});
