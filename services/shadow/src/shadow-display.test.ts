import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { renderPage } from './page.ts';
import type { ReportedDifference, ShadowReport } from './report.ts';
import { jsonShadow, pageShadow } from './shadow-display.ts';

const difference = (service: string, explained = false): ReportedDifference => ({
  ...{ cluster: 'prod', namespace: 'shop', service, controller: 'endpointslice', kind: 'object' },
  ...{ resource: 'endpointslices', lines: ['endpoints[]: 1 ≠ 2'], causes: ['Pod shop/p deleted'] },
  since: '2026-01-01T00:00:00.000Z',
  explanation: explained ? { rules: 'E15', why: 'because' } : null,
});

const report = (differences: readonly ReportedDifference[] = []): ShadowReport => ({
  ...{ ranMs: 61_000, decisions: 12, writes: 10, withdrawn: 0, malformed: 0, later: null, differences },
  clusters: [{ name: 'prod', identity: 'u', server: 'https://prod', version: 'v1.36.3' }],
  services: { total: 7, agree: 7 - differences.length, waiting: 0, explained: 0, unexplained: differences.length },
  sooner: { count: 9, p50: 12, p99: 80, max: 90 },
  lasting: { explained: 1, unexplained: differences.length, resolved: 1 },
});

const plain = (given: ShadowReport, width: number, height: number) =>
  renderPage(given, { width, height }).map(stripVTControlCharacters);

describe('the page', () => {
  test('shows the state of all comparisons', () => {
    const text = plain(report([difference('web')]), 200, 40).join('\n');
    expect(text).toContain('Shadow mode: prod (Kubernetes v1.36.3) at https://prod, read-only');
    expect(text).toContain('7: 6 agree, 0 waiting, 0 explained, 1 unexplained');
    expect(text).toContain('Sluice was first 9 times, by 12 ms (p50), 80 ms (p99), 90 ms (max)');
    expect(text).toContain('Sluice was never last');
    expect(text).toContain('EndpointSlices of shop/web: unexplained');
    expect(text).toContain("there ≠ Sluice's: endpoints[]: 1 ≠ 2");
    expect(text).toContain('because Pod shop/p deleted');
  });

  test('loses nothing in 60 columns, also of a value that is one long word', () => {
    const value = `{"ip":"10.0.0.1","nodeName":"${'n'.repeat(150)}"}`;
    const long = { ...difference('web'), lines: [`subsets[].addresses[web-1]: ${value} ≠ nothing`] };
    const lines = plain({ ...report([long]), writes: 0 }, 60, 60);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
    const words = lines.map((line) => line.trim()).join(' ');
    expect(words).toContain('no other controller has written yet, so nothing is compared');
    expect(words).toContain('1 resolved later by upstream controllers');
    expect(words.replaceAll(' ', '')).toContain(`${value}≠nothing`);
    expect(lines.join('')).not.toContain('…');
  });

  test('says that no other controller has written yet', () => {
    expect(plain({ ...report(), writes: 0 }, 200, 40).join('\n')).toContain('no other controller has written yet');
  });

  const many = Array.from({ length: 50 }, (_, i) => difference(`s${i}`, i !== 40));

  test.each([1, 5, 9, 10, 11, 24, 60])('fits into %i lines with many differences', (height) => {
    expect(plain(report(many), 80, height).length).toBeLessThanOrEqual(height);
  });

  test.each([20, 80, 200])('fits into %i columns', (width) => {
    for (const line of plain(report(many), width, 40)) expect(line.length).toBeLessThanOrEqual(width);
  });

  test('shows unexplained differences first, and the number of omitted ones', () => {
    const lines = plain(report(many), 120, 20);
    expect(lines.findIndex((line) => line.includes('shop/s40:'))).toBeLessThan(10);
    expect(lines.at(-1)).toMatch(/and \d+ more/);
  });

  test('is redrawn in place', () => {
    const out: string[] = [];
    const display = pageShadow({ write: (text) => out.push(text) }, () => ({ width: 100, height: 30 }));
    display.status(report(many));
    display.status(report());
    const written = (out[0]?.split('\n').length ?? 0) - 1;
    expect(out[1]).toContain(`\u001b[${written}A`);
    expect(written).toBeLessThan(30);
  });
});

test('JSON has one line per event, and the report last', () => {
  let out = '';
  const display = jsonShadow((text) => {
    out += text;
  });
  display.started(report());
  display.difference(difference('web'));
  display.status(report());
  display.resolved(difference('web'));
  display.ended(report([difference('api')]));
  const lines = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ event }) => event)).toEqual(['started', 'difference', 'status', 'resolved', 'report']);
  expect(lines.at(-1)).toMatchObject({ differences: [{ service: 'api', explanation: null }], ranMs: 61_000 });
});
