import { expect, test } from 'vitest';
import { Drawdown } from './drawdown.ts';

test('how far it fell within the window, whatever it rose before', () => {
  const drawdown = new Drawdown(100);
  expect(drawdown.add(50, 0)).toBe(0);
  expect(drawdown.add(-10, 10)).toBe(10);
  expect(drawdown.add(-10, 20)).toBe(20);
  expect(drawdown.add(5, 30)).toBe(15);
});

test('what fell long ago counts no more, however long nothing has happened', () => {
  const drawdown = new Drawdown(100);
  drawdown.add(-10, 0);
  expect(drawdown.add(-1, 90)).toBe(11);
  expect(drawdown.add(-1, 250)).toBe(1);
  expect(drawdown.add(-1, 300)).toBe(2);
});

test('a level that comes and goes is never far down', () => {
  const drawdown = new Drawdown(1_000);
  for (let i = 0; i < 500; i++) {
    expect(drawdown.add(-1, i)).toBe(1);
    expect(drawdown.add(1, i)).toBe(0);
  }
});
