import type { PlantedBug } from '@sluice/program/planted-bug';

/** Bugs in what ships that no reproduced deviation may hide. */
export const plantedBugs: readonly PlantedBug[] = [
  {
    name: 'no fact leads to a decision',
    file: 'libs/service-state/src/policy.ts',
    search: 'affected: () => null,',
    replace: 'affected: () => new Set(),',
  },
  {
    name: 'events of Pods are not routed',
    file: 'services/watcher/src/event-handler.ts',
    search: "for (const service of services) mark(namespace, service, { kind: 'pod', name });",
    replace: '',
  },
  {
    name: 'parked Services are not retried',
    file: 'libs/service-state/src/settings.ts',
    search: 'parkedRetryMs: 60_000,',
    replace: 'parkedRetryMs: null,',
  },
];
