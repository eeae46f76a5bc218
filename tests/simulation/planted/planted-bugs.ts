import { readFileSync } from 'node:fs';
import { controllerBugs } from './controller-bugs.ts';
import type { PlantedBug } from './planted-bug.ts';
import { platformBugs } from './platform-bugs.ts';
import { reconcilerBugs } from './reconciler-bugs.ts';
import { watcherBugs } from './watcher-bugs.ts';
import { writerBugs } from './writer-bugs.ts';

export const plantedBugs: readonly PlantedBug[] = [
  ...watcherBugs,
  ...reconcilerBugs,
  ...writerBugs,
  ...controllerBugs,
  ...platformBugs,
];

const root = new URL('../../../', import.meta.url);

/** The URL of the file that a bug is planted in. */
export const urlOf = ({ file }: PlantedBug): string => new URL(file, root).href;

/**
 * The source with the bug.
 *
 * @throws Error if the source has changed and the bug no longer fits
 */
export function plant({ name, file, search, replace }: PlantedBug, source: string): string {
  const occurrences = source.split(search).length - 1;
  if (occurrences !== 1) {
    throw new Error(
      `planted bug "${name}": its text occurs ${occurrences} times in ${file}, not once; correct the bug`,
    );
  }
  return source.replace(search, () => replace);
}

/** @throws Error if a bug no longer fits its source */
export function checkPlantedBugs(bugs: readonly PlantedBug[] = plantedBugs): void {
  for (const bug of bugs) plant(bug, readFileSync(new URL(urlOf(bug)), 'utf8'));
}
