import type { PlantedBug } from '@sluice/program/planted-bug';

const ownership = 'libs/fleet/src/ownership';

export const ownershipBugs: readonly PlantedBug[] = [
  {
    name: 'work that failed is tried again at once',
    file: `${ownership}/holdings.ts`,
    search: '    this.#failures.set(scope, { count: count + 1, retryAt: now + delayMs });\n',
    replace: '',
  },
  {
    name: 'a lost lease is current again with the next heartbeat',
    file: `${ownership}/holdings.ts`,
    search: 'isCurrent: () => !holding.lost && this.#options.isCurrent() })',
    replace: 'isCurrent: () => this.#options.isCurrent() })',
  },
  {
    name: 'short interruptions of the bus add up',
    file: `${ownership}/progress.ts`,
    search:
      '    for (const scope of this.#surrenders.keys()) if (!scopes.includes(scope)) this.#surrenders.delete(scope);\n',
    replace: '',
  },
  {
    name: 'a scope that nobody starts stays in transfer',
    file: `${ownership}/handover.ts`,
    search: 'if (isLate || !(released || wanted.includes(scope))) this.#inTransfer.delete(scope);',
    replace: 'if (!(released || wanted.includes(scope))) this.#inTransfer.delete(scope);',
  },
  {
    name: 'the holder waits for a preparation that has failed',
    file: `${ownership}/preparations.ts`,
    search: 'void prepared.then(done, done);',
    replace: 'void prepared.then(done, () => {});',
  },
];
