import type { PlantedBug } from '@sluice/program/planted-bug';

const state = 'libs/service-state/src';

export const serviceStateBugs: readonly PlantedBug[] = [
  {
    name: 'a snapshot removes slices that were written after its list',
    file: `${state}/apply-change.ts`,
    search: 'if (isMissing(stamp) && isUpTo(slice.metadata.resourceVersion, open.resourceVersions.endpointslices)) {',
    replace: 'if (isMissing(stamp)) {',
  },
  {
    name: 'deleted Endpoints are not mirrored away',
    file: `${state}/apply-fact.ts`,
    search: "work.repair(endpointsWriter);\n    return work.addReaders('endpoints');\n",
    replace: 'work.repair(endpointsWriter);\n    return;\n',
  },
  {
    name: 'a deletion under another uid removes an object that only an Outcome has reported',
    file: `${state}/apply-fact.ts`,
    search: 'uid === deletedUid || (published !== null && compareStamps(published, stamp) < 0);',
    replace: 'uid === deletedUid || published === null || compareStamps(published, stamp) < 0;',
  },
  {
    name: 'a slice that exists again keeps its tombstone',
    file: `${state}/apply-fact.ts`,
    search: '  state.removeTombstone(uid);\n',
    replace: '',
  },
  {
    name: 'a slice that was deleted before its Outcome is not repaired',
    file: `${state}/apply-outcome.ts`,
    search: 'const after = undone ? requestRepair(idle, outcome, now, settings) : idle;',
    replace: 'const after = idle;',
  },
  {
    name: 'an object that the writer did not find stays known',
    file: `${state}/apply-result.ts`,
    search: '    else if (result.current === null) applyNotFound(state, mutation, result.name, now);\n',
    replace: '',
  },
  {
    name: 'written objects count as published',
    file: `${state}/apply-result.ts`,
    search: 'return entry && known?.metadata.uid === uid ? entry.stamp : null;',
    replace: 'return entry ? entry.stamp : null;',
  },
  {
    name: 'the newest tombstones are dropped',
    file: `${state}/tombstones.ts`,
    search: '[...tombstones, added].slice(-maxTombstones)',
    replace: '[...tombstones, added].slice(0, maxTombstones)',
  },
  {
    name: 'a compaction takes the place of what has changed',
    file: `${state}/decide.ts`,
    search: 'requested && plan.groups.length === 0 ? compact(',
    replace: 'requested ? compact(',
  },
  {
    name: 'a redelivery is not recorded',
    file: `${state}/evolve.ts`,
    search: 'return state.setController(controller, redelivered(state.controller(controller), now));',
    replace: 'return;',
  },
  {
    name: 'a request for a later decision postpones an earlier one',
    file: `${state}/controller-state.ts`,
    search: 'dueAt: isParked || timers.dueAt === null ? at : Math.min(timers.dueAt, at),',
    replace: 'dueAt: at,',
  },
];
