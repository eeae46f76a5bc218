import type { PlantedBug } from '@sluice/program/planted-bug';
import { busBugs } from './bus-bugs.ts';
import { clusterBugs } from './cluster-bugs.ts';
import { consoleBugs } from './console-bugs.ts';
import { controllerBugs } from './controller-bugs.ts';
import { messageBugs } from './message-bugs.ts';
import { ownershipBugs } from './ownership-bugs.ts';
import { reconcilerBugs } from './reconciler-bugs.ts';
import { serviceStateBugs } from './service-state-bugs.ts';
import { storeBugs } from './store-bugs.ts';
import { watcherBugs } from './watcher-bugs.ts';
import { writerBugs } from './writer-bugs.ts';

/**
 * Bugs that no invariant was written for: they were derived from the production code alone. The share of them that is found says
 * what the simulation finds of bugs that nobody has thought of, so add neither an invariant nor a fault for one of them.
 */
export const heldOutBugs: readonly PlantedBug[] = [
  ...watcherBugs,
  ...reconcilerBugs,
  ...writerBugs,
  ...serviceStateBugs,
  ...controllerBugs,
  ...ownershipBugs,
  ...storeBugs,
  ...busBugs,
  ...clusterBugs,
  ...messageBugs,
  ...consoleBugs,
];
