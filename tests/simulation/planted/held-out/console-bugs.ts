import type { PlantedBug } from '@sluice/program/planted-bug';

const consoleService = 'services/console/src';

export const consoleBugs: readonly PlantedBug[] = [
  {
    name: 'the state at a time lacks what happened at that time',
    file: `${consoleService}/history/journal.ts`,
    search: 'steps.findIndex((time) => time > at)',
    replace: 'steps.findIndex((time) => time >= at)',
  },
  {
    name: 'the removal of a cluster from one partition empties the histories of all',
    file: `${consoleService}/history/history.ts`,
    search: 'if (journal.key.cluster === key && journal.partition === partition)',
    replace: 'if (journal.key.cluster === key)',
  },
  {
    name: 'a late removal empties a history',
    file: `${consoleService}/history/replay.ts`,
    search: '    if (state.state.snapshot.stamp.epoch > epoch) return [];\n',
    replace: '',
  },
  {
    name: 'a refusal is shown although a later plan was applied',
    file: `${consoleService}/history/replay.ts`,
    search: "    if (status === 'applied') state.refused.delete(controller);\n",
    replace: '',
  },
  {
    name: 'an endpoint that is not ready counts as serving',
    file: `${consoleService}/history/endpoint-changes.ts`,
    search: 'serving: conditions?.serving ?? conditions?.ready ?? true,',
    replace: 'serving: conditions?.serving ?? true,',
  },
  {
    name: 'an unscheduled Pod is explained by a missing Node',
    file: `${consoleService}/explain/explain-pod.ts`,
    search: "pod.nodeName === ''\n",
    replace: "pod.nodeName !== ''\n",
  },
];
