import { describe, expect, it } from 'vitest';
import { play } from './player.ts';
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

describe('scenarios recorded from the upstream controllers', () => {
  it.each(files)('%s', async (file) => {
    const lines = readLines(new URL(`../vectors/settled/${file}.jsonl.gz`, import.meta.url));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      const { name, differences } = await play(line, { asShipped: false, writes: true, events: true });
      expect(differences, name).toEqual([]);
    }
  });
});
