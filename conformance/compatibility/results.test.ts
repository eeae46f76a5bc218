import { readFileSync } from 'node:fs';
import { KUBERNETES_VERSION } from '@sluice/local';
import { describe, expect, it } from 'vitest';
import { releases } from './releases.ts';
import { hasPassed, isPassed, page, parts, type ReleaseResult, readResults, withResult, withTable } from './results.ts';

const results = readResults();

describe('the committed results', () => {
  it('are in the table of the compatibility page', () => {
    const text = readFileSync(page, 'utf8');
    expect(withTable(text, results)).toBe(text);
  });

  it('are those of the releases that the nightly run checks, among them that of CI', () => {
    expect(releases).toEqual(expect.arrayContaining(results.map(({ kubernetes }) => kubernetes)));
    expect(results.map(({ kubernetes }) => kubernetes)).toContain(KUBERNETES_VERSION);
  });
});

describe('a result', () => {
  const passed: ReleaseResult = {
    kubernetes: 'v1.34.4',
    date: '2026-11-23',
    contracts: { passed: 90, failed: 0 },
    vectors: { passed: 4000, failed: 0, explained: 2, panicked: 3 },
    differential: { seed: 1, steps: 300, checkpoints: 15, slices: 500, explained: 3, unexplained: 0 },
  };
  const text = '<!-- results: npm run compatibility --><!-- end of the results -->';
  const rowOf = (result: ReleaseResult) => withTable(text, [result]).split('\n')[4]?.replaceAll(/ +/g, ' ');

  it('passes if each part was run and nothing failed', () => {
    expect(isPassed(passed)).toBe(true);
    const { contracts, vectors, differential } = passed;
    const broken: readonly ReleaseResult[] = [
      { ...passed, contracts: { passed: 90, failed: 1 } },
      { ...passed, contracts: { passed: 0, failed: 0 } },
      { ...passed, vectors: { passed: 4000, failed: 1, explained: 0, panicked: 0 } },
      ...(differential === undefined ? [] : [{ ...passed, differential: { ...differential, unexplained: 1 } }]),
      { kubernetes: 'v1.34.4', date: '2026-11-23', ...(contracts && { contracts }), ...(vectors && { vectors }) },
    ];
    expect(broken.map(isPassed)).toEqual(broken.map(() => false));
    expect(broken.map((result) => parts.filter((part) => !hasPassed(result, part)))).toEqual(
      ['contracts', 'contracts', 'vectors', 'differential', 'differential'].map((part) => [part]),
    );
  });

  it('is a row, with what failed and what was not run', () => {
    expect(rowOf(passed)).toBe(
      '| v1.34.4 | 2026-11-23 | 90 passed | 4000 passed, 2 explained, 3 upstream panics | 500 slices compared, 3 explained differences | order of ports |',
    );
    expect(rowOf({ kubernetes: 'v1.35.4', date: '2026-11-23', contracts: { passed: 9, failed: 1 } })).toBe(
      '| v1.35.4 | 2026-11-23 | 9 passed, **1 failed** | not run | not run | – |',
    );
  });

  it('replaces that of its minor version', () => {
    const next = { ...passed, kubernetes: 'v1.34.5' };
    const other = { ...passed, kubernetes: 'v1.36.3' };
    expect(withResult([passed, other], next)).toEqual([next, other]);
  });

  it('needs a place in the page', () => {
    expect(() => withTable('no table', [passed])).toThrow('lacks');
  });
});
