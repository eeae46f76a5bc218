import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Room } from './rooms.ts';
import { type Counts, score, sum } from './score.ts';

/** The last recorded run of a room. */
export interface RecordedScore {
  readonly commit: string;
  readonly date: string;
  readonly files: Readonly<Record<string, Counts>>;
}

export type RecordedScores = Readonly<Record<string, RecordedScore>>;

const file = join(import.meta.dirname, 'scores.json');

/** Mutants are few, so one that times out or not moves the score of a small room. */
const TOLERANCE = 0.5;

export const readScores = (): RecordedScores => JSON.parse(readFileSync(file, 'utf8'));

export function writeScores(scores: RecordedScores): void {
  const sorted = Object.entries(scores).map(([name, { files, ...run }]) => {
    const lines = Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return [name, { ...run, files: Object.fromEntries(lines) }];
  });
  // A line per file keeps differences and merges small.
  const text = JSON.stringify(Object.fromEntries(sorted), undefined, 2).replaceAll(
    /\{\s+("killed"[^}]*?)\s+\}/g,
    (_, counts) => `{ ${counts.replaceAll(/\s+/g, ' ')} }`,
  );
  writeFileSync(file, `${text}\n`);
}

/** The least score that passes: the goal, or while the room has not reached it what the record says. */
export function limit({ goal }: Room, recorded: RecordedScore | undefined): number {
  const before = recorded === undefined ? 0 : score(sum(Object.values(recorded.files))) - TOLERANCE;
  return Math.max(0, Math.min(goal, before));
}
