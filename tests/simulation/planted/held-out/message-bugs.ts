import type { PlantedBug } from '@sluice/program/planted-bug';

const messages = 'libs/messages/src';

export const messageBugs: readonly PlantedBug[] = [
  {
    name: 'digests ignore the zone of a Pod',
    file: `${messages}/digest-facts.ts`,
    search: 'hashed.pods.push(canonical([fact.pod, fact.node]));',
    replace: 'hashed.pods.push(canonical([fact.pod]));',
  },
  {
    name: 'the slices of a digest have no order',
    file: `${messages}/digest-facts.ts`,
    search: 'slices: slices.sort((a, b) => (a.name < b.name ? -1 : 1)),',
    replace: 'slices,',
  },
  {
    name: 'causes beyond the limit are not counted',
    file: `${messages}/cause.ts`,
    search: 'more: a.more + b.more + Math.max(0, all.length - maxCauses),',
    replace: 'more: a.more + b.more,',
  },
];
