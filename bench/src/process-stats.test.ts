import { expect, it } from 'vitest';
import { descendants, isFleetProgramLine, parseIo, parseMachineCpu, parsePeak, parseStat } from './process-stats.ts';

it('reads a process whose name contains parentheses and spaces, with exited children', () => {
  const line = '42 (a (b) c) S 7 42 42 0 -1 4194304 500 0 0 0 150 50 25 5 20 0 11 0 100 1000 200';
  expect(parseStat(line)).toEqual({ pid: 42, parent: 7, cpuSeconds: 2.3 });
});

it('finds all descendants in any order, and nothing else', () => {
  const process = (pid: number, parent: number) => ({ pid, parent, cpuSeconds: 1 });
  const all = [process(4, 3), process(3, 2), process(2, 1), process(9, 1), process(5, 2)];
  expect(descendants(all, 2).map(({ pid }) => pid)).toEqual([4, 3, 2, 5]);
});

it('reads the busy time of the machine and the peak of a process', () => {
  expect(parseMachineCpu('cpu  100 20 30 5000 60 7 8 9 1000 0\ncpu0 1 2 3')).toBe(1.65);
  expect(parsePeak('Name:\tnode\nVmHWM:\t  100000 kB\nVmRSS:\t 90000 kB\n')).toBe(102.4);
  expect(parsePeak('Name:\tkthread\n')).toBe(0);
});

it('reads the bytes that a process has transferred', () => {
  expect(parseIo('rchar: 1234\nwchar: 56\nsyscr: 7\nread_bytes: 9\n')).toEqual({ read: 1234, written: 56 });
});

it('the program that starts a fleet does not count as a part of it', () => {
  expect(isFleetProgramLine('/usr/bin/node\0/sluice/bench/src/fleet-program.ts\0/tmp/fleet\0')).toBe(true);
  expect(isFleetProgramLine('/usr/bin/node\0/sluice/.cache/program/main.js\0worker\0')).toBe(false);
});
