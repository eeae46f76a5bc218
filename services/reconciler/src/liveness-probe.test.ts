import { describe, expect, test } from 'vitest';
import { LivenessProbe } from './liveness-probe.ts';

const silenceMs = 1_000_000;
const minute = 60_000;

describe('a Service that no watcher publishes', () => {
  test('is probed after the silence, and again after another', () => {
    const probe = new LivenessProbe(silenceMs);
    expect(probe.dueAt).toBeUndefined();
    probe.observe('a', 0);
    expect(probe.dueAt).toBe(silenceMs);
    expect(probe.take(silenceMs - 1)).toBeUndefined();
    expect(probe.take(silenceMs)).toBe('a');
    expect(probe.take(silenceMs)).toBeUndefined();
    expect(probe.dueAt).toBe(2 * silenceMs);
  });

  test('is the one without Change for longest', () => {
    const probe = new LivenessProbe(silenceMs);
    probe.observe('a', 0);
    probe.observe('b', 1);
    probe.observe('a', 2);
    expect(probe.take(silenceMs + 2)).toBe('b');
  });

  test('is probed at most once per minute', () => {
    const probe = new LivenessProbe(silenceMs);
    for (const key of ['a', 'b']) probe.observe(key, 0);
    expect(probe.take(silenceMs)).toBe('a');
    expect(probe.dueAt).toBe(silenceMs + minute);
    expect(probe.take(silenceMs + minute - 1)).toBeUndefined();
    expect(probe.take(silenceMs + minute)).toBe('b');
  });

  test('is not probed once its state is dropped', () => {
    const probe = new LivenessProbe(silenceMs);
    probe.observe('a', 0);
    probe.remove('a');
    expect(probe.dueAt).toBeUndefined();
    expect(probe.take(10 * silenceMs)).toBeUndefined();
  });
});
