import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { checkValues, countValues, type Row } from './check-values.ts';
import { readPages } from './markdown.ts';
import type { SourceValue } from './source-values.ts';
import { rows } from './values/index.ts';

const fifteenSeconds: SourceValue = { kind: 'duration', value: 15_000, source: 'maxSilenceMs in ownership.ts' };
const sixteen: SourceValue = { kind: 'count', value: 16, source: 'default of partitions' };
const quarter: SourceValue = { kind: 'percent', value: 25, source: 'default of writer.maxRemovalPercent' };
const messages = (text: string, ...rowsOfPage: Row[]) =>
  checkValues([{ path: 'a.md', text }], { 'a.md': rowsOfPage }).map(({ line, message }) => `${line}: ${message}`);

describe('a page that', () => {
  it('says something else than the code gets a finding with both values and the line', () => {
    const text = '# Fleet\n\nIt gives them up when its event loop\nhas been blocked for 5 s (of 64).';
    const row: Row = ['blocked for {} (of {}', fifteenSeconds, sixteen];
    expect(messages(text, row)).toEqual([
      '4: says 5 s; the code says 15 s (maxSilenceMs in ownership.ts)',
      '4: says 64; the code says 16 (default of partitions)',
    ]);
  });

  it.each([
    'blocked for 15 s,',
    'blocked for\n15 seconds,',
    'blocked for 15000 ms,',
    'blocked for a quarter of a minute,',
    '> blocked for\n> 15 s,',
  ])('says %j agrees with 15 s', (text) => {
    expect(messages(text, ['blocked for {},', fifteenSeconds])).toEqual([]);
  });

  it('writes a share in words agrees', () => {
    expect(messages('at most a quarter of it', ['at most {} of', quarter])).toEqual([]);
    expect(messages('at most a fifth of it', ['at most {} of', quarter])).toEqual([
      '1: says a fifth; the code says 25 % (default of writer.maxRemovalPercent)',
    ]);
  });

  it('writes a range with one unit agrees', () => {
    const [least, most]: SourceValue[] = [5, 10].map((minutes) => ({
      kind: 'duration',
      value: minutes * 60_000,
      source: '',
    }));
    if (least === undefined || most === undefined) throw new Error('two values');
    expect(messages('after 5 to 10 minutes', ['after {} to {}', least, most])).toEqual([]);
  });

  it('quotes a number without a row gets a finding that asks for one', () => {
    const text =
      'Waits 15 s, every minute, with 64 partitions and `64Mi`. `--for 20s` is an example, [ADR 0055](x.md) no number.';
    const found = messages(text, ['Waits {},', fifteenSeconds]);
    expect(found.map((message) => message.split(',')[0])).toEqual([
      '1: quotes every minute',
      '1: quotes 64',
      '1: quotes 64Mi',
    ]);
    expect(found[0]).toContain('add one with the constant it comes from');
  });

  it('no longer says what a row expects is reported', () => {
    expect(messages('Other words.', ['Waits {},', fifteenSeconds])).toEqual([
      '1: does not say "Waits {}," any more; change or remove the row of infra/docs/values that expects it',
    ]);
  });
});

test('a row with a reason covers its words, up to the end of the block with {…}', () => {
  expect(
    messages('Measured: 5 s,\nthen 6 s.\n\nAnd 7 s.', ['Measured: {…}', 'measured']).map((text) => text.slice(0, 13)),
  ).toEqual(['4: quotes 7 s']);
});

test('numbers in code blocks count in comments only', () => {
  expect(messages('    sluice run --for 20s     # for 30 s')).toHaveLength(1);
});

test('every page but measurements, decisions and generated tables is checked, with hundreds of values', () => {
  const skipped =
    /^(?:\.github|CHANGELOG|docs\/adr|docs\/contributing\/(?!differential)|docs\/operations\/capacity|docs\/reference\/(?:compatibility|settings)|.*\/testdata|bench\/results)/;
  const paths = readPages(join(import.meta.dirname, '../..')).map(({ path }) => path);
  expect(Object.keys(rows).sort()).toEqual(paths.filter((path) => !skipped.test(path)));
  expect(countValues(rows)).toBeGreaterThan(180);
});
