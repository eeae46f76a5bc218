import { expect, test } from 'vitest';
import { describeProblem, leastAfterMs, type ProblemRule } from './problem-rules.ts';

const rules: readonly ProblemRule[] = [
  { reason: 'NoReadyEndpoints', namespaces: ['dev', 'preview-*'], severity: 'off' },
  { reason: 'NoReadyEndpoints', afterMs: 120_000 },
  { reason: 'NoReadyEndpoints', severity: 'info' },
  { reason: 'LateChange', namespaces: ['shop'], afterMs: 5_000 },
  { reason: 'ScaledToZero', namespaces: ['*'], severity: 'warning', afterMs: 0 },
];
const at = (key: string, reason: ProblemRule['reason'] = 'NoReadyEndpoints') => describeProblem(rules, { key, reason });

test('the first rule that matches applies, and what it does not name stays', () => {
  expect(at('c/dev/web')).toEqual({ severity: 'off', afterMs: 30_000 });
  expect(at('c/preview-7/web')).toEqual({ severity: 'off', afterMs: 30_000 });
  expect(at('dev/shop/dev')).toEqual({ severity: 'critical', afterMs: 120_000 });
  expect(at('c/devel/web')).toEqual({ severity: 'critical', afterMs: 120_000 });
  expect(at('c/shop/web', 'ScaledToZero')).toEqual({ severity: 'warning', afterMs: 0 });
  expect(at('c/shop/web', 'Flapping')).toEqual({ severity: 'warning', afterMs: 0 });
});

test('the least time covers every namespace', () => {
  expect(leastAfterMs(rules, 'LateChange')).toBe(5_000);
  expect(leastAfterMs(rules, 'NoReadyEndpoints')).toBe(30_000);
});
