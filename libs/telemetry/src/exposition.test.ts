import { Counter as PromCounter } from 'prom-client';
import { beforeEach, describe, expect, test } from 'vitest';
import { Exposition } from './exposition.ts';
import { Instrument, type Labels, ObservedInstrument, type Source } from './instruments.ts';
import type { MetricRow } from './metrics-table.ts';

let exposition: Exposition;

type Given = Partial<MetricRow> & { readonly name: string };

const rowOf = (type: string, { help = 'h', labels = [], ...more }: Partial<MetricRow>): MetricRow => ({
  ...more,
  type,
  help,
  labels,
});

const make = (type: string, { name, ...row }: Given): Instrument =>
  new Instrument(exposition.registry, name, rowOf(type, row), undefined);
const counter = (given: Given) => make('counter', given);
const histogram = (given: Given) => make('histogram', given);

function observed(type: 'gauge' | 'observed counter', { name, ...row }: Given, source: Source): () => void {
  return new ObservedInstrument(exposition.registry, name, rowOf(type, row), undefined).add(source);
}

beforeEach(() => {
  exposition = new Exposition();
});

describe('the text format', () => {
  test('of a counter', async () => {
    const plans = counter({ name: 'plans_total', help: 'Plans', labels: ['controller', 'status'] });
    plans.series({ controller: 'endpoints', status: 'applied' }).add(1);
    plans.series({ controller: 'endpoints', status: 'applied' }).add(3);
    plans.series({ controller: 'a "b"\\\n', status: '' }).add(0);
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
    const options = { name: 'seconds', help: 'Seconds', labels: ['a'], buckets: [1e-8, 0.5, 300] };
    const seconds = histogram(options);
    for (const value of [0, 1e-8, 0.5, 0.6, 301]) seconds.series({ a: 'x' }).add(value);
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
    const plans = counter({ name: 'plans_total', help: 'Plans', labels: ['status'] });
    const seconds = histogram({ name: 'seconds', help: 'Seconds', labels: ['a'], buckets: [1] });
    const conflicts = plans.series({ status: 'conflict' });
    seconds.series({ a: 'y' });
    for (const count of [100, 7]) {
      for (let i = 0; i < count; i++) {
        conflicts.add(1);
        seconds.series({ a: 'x' }).add(0.5);
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
    const plans = counter({ name: 'plans_total', help: 'Plans' });
    const seconds = histogram({ name: 'seconds', help: 'Seconds', buckets: [1] });
    for (const value of [-1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => plans.series({}).add(value)).toThrow(RangeError);
    expect(() => seconds.series({}).add(Number.NaN)).toThrow(RangeError);
    expect(await exposition.text()).toContain('plans_total 0\n');
  });

  test('of metrics without labels, before anything happens', async () => {
    counter({ name: 'c' });
    histogram({ name: 'd', buckets: [1] });
    observed('gauge', { name: 'e' }, () => {});
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
    observed('gauge', { name: 'g', labels: ['a'] }, async (report) => {
      for (const [labels, value] of reported) report(labels, value);
    });
    observed('observed counter', { name: 'c_total', labels: ['a'] }, (report) => {
      for (const [labels, value] of reported.slice(1)) report(labels, value);
    });
    expect(await exposition.text()).toContain('g{a="x"} 3\ng{a="y"} 2\n\n');
    expect(await exposition.text()).toContain('c_total{a="y"} 2\nc_total{a="x"} 3\n');
    reported = [[{ a: 'z' }, 0]];
    expect(await exposition.text()).toContain('# TYPE g gauge\ng{a="z"} 0\n\n');
  });

  test('is the same in two concurrent scrapes', async () => {
    observed('gauge', { name: 'g' }, async (report) => {
      await Promise.resolve();
      report({}, 1);
    });
    const [first, second] = await Promise.all([exposition.text(), exposition.text()]);
    expect([first, second]).toEqual(Array(2).fill('# HELP g h\n# TYPE g gauge\ng 1\n'));
  });
});

describe('OpenMetrics', () => {
  beforeEach(() => {
    counter({ name: 'plans_total', labels: ['a'] })
      .series({ a: 'x' })
      .add(0);
    counter({ name: 'endpoint_slice_controller_changes' });
    const seconds = histogram({
      exemplars: true,
      name: 'seconds',
      labels: ['a'],
      buckets: [1],
    });
    seconds.series({ a: 'x' }).add(0.5, 'abc');
    seconds.series({ a: 'x' }).add(0.25, undefined);
    seconds.series({ a: 'x' }).add(2, 'def');
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
  counter({ name: 'c' });
  const again = () => observed('gauge', { name: 'c' }, () => {});
  expect(again).toThrow('A metric with the name c has already been registered');
  expect(() => new PromCounter({ name: 'c', help: 'h', registers: [exposition.registry] })).toThrow('already');
});

test('of several values with the same labels the last counts, their sum or the largest', async () => {
  for (const combine of [undefined, 'sum', 'max'] as const) {
    const name = `g_${combine}`;
    const gauge = new ObservedInstrument(
      exposition.registry,
      name,
      { type: 'gauge', help: 'h', labels: ['a'], ...(combine && { combine, initial: ['x', 'y'] }) },
      undefined,
    );
    const hide = gauge.add((report) => report({ a: 'x' }, 3));
    gauge.add((report) => report({ a: 'x' }, 2));
    expect(await exposition.text()).toContain(`${name}{a="x"} ${{ sum: 5, max: 3, none: 2 }[combine ?? 'none']}\n`);
    hide();
    expect(await exposition.text()).toContain(`${name}{a="x"} 2\n`);
    expect((await exposition.text()).includes(`${name}{a="y"} 0\n`)).toBe(combine !== undefined);
  }
});

describe('the label of an identity', () => {
  const row = { help: 'h', labels: ['identity', 'a'] };
  const expose = (cluster: ((identity: string) => string) | undefined) => {
    const counted = new Instrument(exposition.registry, 'c', { type: 'counter', ...row }, cluster);
    const shown = new ObservedInstrument(exposition.registry, 'g', { type: 'gauge', ...row }, cluster);
    shown.add((report) => report({ identity: 'uid-2', a: 'x' }, 1));
    return counted;
  };

  test('is the name of the cluster, also of one that is named later', async () => {
    const names = new Map([['uid-1', 'staging']]);
    const counted = expose((identity) => names.get(identity) ?? identity);
    counted.series({ identity: 'uid-1', a: 'x' }).add(1);
    expect(await exposition.text()).toContain('g{cluster="uid-2",a="x"} 1\n');
    names.set('uid-2', 'production');
    counted.series({ identity: 'uid-2', a: 'x' }).add(2);
    const text = await exposition.text();
    expect(text).toContain('c{cluster="staging",a="x"} 1\nc{cluster="production",a="x"} 2\n');
    expect(text).toContain('g{cluster="production",a="x"} 1\n');
  });

  test('is missing if there is one cluster, as in kube-controller-manager', async () => {
    const counted = expose(undefined);
    counted.series({ identity: 'uid-1', a: 'x' }).add(1);
    const text = await exposition.text();
    expect(text).toContain('c{a="x"} 1\n');
    expect(text).toContain('g{a="x"} 1\n');
  });
});
