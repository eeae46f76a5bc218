import { expect, it } from 'vitest';
import { limit, readScores } from './recorded-scores.ts';
import { rooms } from './rooms.ts';
import { counted, none, score } from './score.ts';
import { readPage, withScores } from './scores-page.ts';

const counts = (killed: number, survived: number) => ({ ...none, killed, survived });
const recorded = (files: Record<string, ReturnType<typeof counts>>) => ({ commit: '', date: '', files });
const room = { ...rooms[0], name: 'any', directory: 'any', tests: [], goal: 85 };

it('a score is the share of the mutants that tests notice, rounded down', () => {
  expect(score({ killed: 1, timeout: 1, survived: 0, uncovered: 1 })).toBe(66.66);
  expect(score(none)).toBe(100);
});

it('ignored mutants and those that cannot run do not count', () => {
  const statuses = ['Killed', 'Timeout', 'Survived', 'NoCoverage', 'Ignored', 'RuntimeError', 'CompileError'] as const;
  const results = statuses.map((status) => ({ status }) as Parameters<typeof counted>[0][number]);
  expect(counted(results)).toEqual({ killed: 1, timeout: 1, survived: 1, uncovered: 1 });
});

it('a room must keep its score until it reaches its goal, and then the goal', () => {
  expect(limit(room, undefined)).toBe(0);
  expect(limit(room, recorded({ a: counts(60, 40) }))).toBe(59.5);
  expect(limit(room, recorded({ a: counts(99, 1) }))).toBe(85);
});

it('the page lists the recorded scores', () => {
  expect(readPage()).toBe(withScores(readPage(), readScores()));
});
