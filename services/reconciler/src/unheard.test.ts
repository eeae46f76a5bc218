import { describe, expect, test } from 'vitest';
import { Unheard } from './unheard.ts';

const silenceMs = 1_000_000;
const minute = 60_000;

describe('a Service that no watcher may know', () => {
  test('is asked for after the silence, and again after another', () => {
    const unheard = new Unheard(silenceMs);
    expect(unheard.dueAt).toBeUndefined();
    unheard.hear('a', 0);
    expect(unheard.dueAt).toBe(silenceMs);
    expect(unheard.take(silenceMs - 1)).toBeUndefined();
    expect(unheard.take(silenceMs)).toBe('a');
    expect(unheard.take(silenceMs)).toBeUndefined();
    expect(unheard.dueAt).toBe(2 * silenceMs);
  });

  test('is one that was told of longest ago', () => {
    const unheard = new Unheard(silenceMs);
    unheard.hear('a', 0);
    unheard.hear('b', 1);
    unheard.hear('a', 2);
    expect(unheard.take(silenceMs + 2)).toBe('b');
  });

  test('waits its turn: one a minute is asked for', () => {
    const unheard = new Unheard(silenceMs);
    for (const key of ['a', 'b']) unheard.hear(key, 0);
    expect(unheard.take(silenceMs)).toBe('a');
    expect(unheard.dueAt).toBe(silenceMs + minute);
    expect(unheard.take(silenceMs + minute - 1)).toBeUndefined();
    expect(unheard.take(silenceMs + minute)).toBe('b');
  });

  test('is not asked for once nothing of it is left', () => {
    const unheard = new Unheard(silenceMs);
    unheard.hear('a', 0);
    unheard.drop('a');
    expect(unheard.dueAt).toBeUndefined();
    expect(unheard.take(10 * silenceMs)).toBeUndefined();
  });
});
