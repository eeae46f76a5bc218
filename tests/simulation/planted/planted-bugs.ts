import { readFileSync } from 'node:fs';
import { type PlantedBug, plant, urlOf } from '@sluice/program/planted-bug';
import { controllerBugs } from './controller-bugs.ts';
import { platformBugs } from './platform-bugs.ts';
import { reconcilerBugs } from './reconciler-bugs.ts';
import { type SuiteBug, suiteBugs } from './suite-bugs.ts';
import { watcherBugs } from './watcher-bugs.ts';
import { writerBugs } from './writer-bugs.ts';

export const plantedBugs: readonly SuiteBug[] = [
  ...watcherBugs,
  ...reconcilerBugs,
  ...writerBugs,
  ...controllerBugs,
  ...platformBugs,
  ...suiteBugs,
];

/** @throws Error if a bug no longer fits its source */
export function checkPlantedBugs(bugs: readonly PlantedBug[] = plantedBugs): void {
  for (const bug of bugs) plant(bug, readFileSync(new URL(urlOf(bug)), 'utf8'));
}
