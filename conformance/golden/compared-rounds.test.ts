import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@sluice/shadow';
import { describe, expect, it } from 'vitest';
import { readAsShipped } from './as-shipped.ts';
import { comparedRounds, isCompared } from './compared-rounds.ts';
import { explainedScenarios } from './explained.ts';
import { readLines } from './read-lines.ts';
import type { Step, Vector } from './vector.ts';

const writes = { create: 0, update: 0, delete: 0 };
const [a, b]: JsonObject[] = [{ state: 'a' }, { state: 'b' }];

/** Rounds with these steps between them; open unless a resync ended them. */
function vector(steps: readonly Step[], states: readonly (JsonObject | '=' | undefined)[], lag = false): Vector {
  const rounds = states.map((objects = '=') => ({ after: '', objects, writes, events: [] }));
  const open = rounds.map((_, i) => i).filter((i) => steps[i - 1]?.op !== 'resync');
  return { name: 'x', class: 'strict', open, scenario: { config: { lag }, steps }, expect: { rounds } };
}

const apply = { op: 'apply' };
const resync = { op: 'resync' };
const deliver = { op: 'deliver' };

describe('with resyncs', () => {
  it('each round is compared with upstream’s state of it', () => {
    const rounds = comparedRounds(vector([resync, apply, resync], [a, '=', '=', b]), true);
    expect(rounds).toEqual([a, a, a, b].map((objects) => ({ objects, events: true })));
  });

  it('rounds in which nothing runs are not compared', () => {
    const steps = [resync, { op: 'apply', run: false }, { op: 'fault' }, apply, resync];
    const rounds = comparedRounds(vector(steps, [a, '=', '=', '=', '=', '=']), true);
    expect(rounds.slice(2, 4)).toEqual(['nothing runs', 'nothing runs']);
  });

  it('under lag, states count once upstream’s own writes change nothing more, and Events after the resync only', () => {
    const steps = [deliver, resync, apply, deliver, resync];
    const rounds = comparedRounds(vector(steps, [a, '=', '=', '=', b, '='], true), true);
    expect(rounds.slice(0, 3)).toEqual([false, false, true].map((events) => ({ objects: a, events })));
    expect(rounds.slice(3)).toEqual(['caches lag', { objects: b, events: false }, { objects: b, events: true }]);
  });
});

describe('without resyncs', () => {
  it('each round must have the state that upstream has after the next resync', () => {
    const rounds = comparedRounds(vector([resync, apply, deliver, resync], [a, '=', '=', '=', b]), false);
    expect(rounds).toEqual([a, a, b, b, b].map((objects) => ({ objects, events: false })));
  });

  it('rounds without a resync before the next step are not compared', () => {
    const rounds = comparedRounds(vector([resync, apply, apply, resync], [a, '=', '=', b, '=']), false);
    expect(rounds[2]).toBe('no resync follows');
  });
});

describe('the stored vectors', () => {
  const folder = join(import.meta.dirname, '../vectors/settled');
  const lines = globSync('*/*.jsonl.gz', { cwd: folder }).flatMap((file) => readLines(join(folder, file)));
  const vectors = lines.map((line) => JSON.parse(line) as Vector);

  it('have as many rounds, and as many compared ones, as the README says', () => {
    const rounds = [true, false].map((resyncs) => vectors.flatMap((one) => comparedRounds(one, resyncs)));
    const count = (n: number) => n.toLocaleString('en-US');
    const [all = 0] = rounds.map(({ length }) => length);
    const cells = rounds.map((some) => {
      const compared = some.filter(isCompared).length;
      return `${count(compared)} (${((100 * compared) / all).toFixed(1)} %)`;
    });
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8').replaceAll(/ +/g, ' ');
    expect(readme).toContain(`| total | ${count(vectors.length)} | ${count(all)} | ${cells.join(' | ')} |`);
  });

  it('contain all scenarios that are said to differ', () => {
    const names = new Set(vectors.map(({ name }) => name));
    const listed = [...Object.keys(readAsShipped()), ...explainedScenarios];
    expect(listed.filter((name) => !names.has(name))).toEqual([]);
  });
});
