import { describe, expect, it } from 'vitest';
import { type Mode, play } from './player.ts';
import { readLines } from './read-lines.ts';

/** The scenarios written by hand. conformance/run.ts replays all scenarios. */
const files = [
  'endpoints/samples',
  'endpoints/samplequirks',
  'endpoints/names',
  'endpointslice/samples',
  'endpointslice/samplequirks',
  'mirroring/samples',
  'mirroring/samplequirks',
];
const linesOf = (file: string) => readLines(new URL(`../vectors/settled/${file}.jsonl.gz`, import.meta.url));

async function failuresIn(lines: readonly string[], mode: Mode) {
  const failures: (readonly string[])[] = [];
  for (const line of lines) {
    const { name, differences, listed } = await play(line, mode);
    if (differences.length > 0 !== listed) failures.push([name, ...differences]);
  }
  return failures;
}

describe('scenarios recorded from the upstream controllers', () => {
  it.each(files)('%s', async (file) => {
    const lines = linesOf(file);
    expect(lines.length).toBeGreaterThan(0);
    expect(await failuresIn(lines, 'upstream')).toEqual([]);
    expect(await failuresIn(lines, 'shipped')).toEqual([]);
  });
});

describe('a scenario that differs as shipped', () => {
  const name = 'samplequirks/endpointslice/q11-slice-label-service-name-changed-by-user';
  const line = linesOf('endpointslice/samplequirks').find((text) => text.includes(`"name":"${name}"`)) ?? '';

  it('needs exactly the deviations that are listed', async () => {
    expect(await play(line, 'search')).toMatchObject({ deviations: ['C21'] });
    expect(await play(line, 'shipped', { [name]: ['C21'] })).toMatchObject({ listed: true });
    expect(await play(line, 'shipped', {})).toMatchObject({ listed: false });
    expect(await play(line, 'shipped', { [name]: ['H19'] })).toMatchObject({ listed: false });
    const needless = await play(line, 'shipped', { [name]: ['C21', 'H19'] });
    expect(needless).toMatchObject({ listed: false, differences: ['passes without H19'] });
  });

  it('fails if it is listed but does not differ', async () => {
    const [first = ''] = linesOf('endpointslice/samples');
    const { name: other } = await play(first, 'shipped', {});
    expect(await play(first, 'shipped', { [other]: ['C21'] })).toMatchObject({ listed: true, differences: [] });
  });
});
