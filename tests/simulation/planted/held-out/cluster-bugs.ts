import type { PlantedBug } from '@sluice/program/planted-bug';

const kubernetes = 'libs/kubernetes/src';

export const clusterBugs: readonly PlantedBug[] = [
  {
    name: 'events in the batch that ends the initial events are lost',
    file: `${kubernetes}/reflector.ts`,
    search: '        await this.#apply(end.rest);\n',
    replace: '',
  },
  {
    name: 'a watch resumes without a read of the current version',
    file: `${kubernetes}/reflector.ts`,
    search: "    if (this.#state === 'retrying') await this.#checkHistory(signal);\n",
    replace: '',
  },
  {
    name: 'stale lists are counted without end',
    file: `${kubernetes}/resource-version.ts`,
    search: '    this.#delivered = resourceVersion;\n    this.#staleLists = 0;\n',
    replace: '    this.#delivered = resourceVersion;\n',
  },
  {
    name: 'AlreadyExists counts as a transient error',
    file: `${kubernetes}/status.ts`,
    search: "if (status === 409 && (reason === 'Conflict' || reason === 'AlreadyExists')) return 'conflict';",
    replace: "if (status === 409 && reason === 'Conflict') return 'conflict';",
  },
  {
    name: 'status 500 is final',
    file: `${kubernetes}/status.ts`,
    search: 'includes(status) || status >= 500)',
    replace: 'includes(status) || status > 500)',
  },
  {
    name: 'an object that is deleted during the initial events stays',
    file: `${kubernetes}/initial-events.ts`,
    search: "    if (type === 'DELETED') {\n      this.#objects.delete(key);\n",
    replace: "    if (type === 'DELETED') {\n",
  },
  {
    name: 'the identity is not checked after a connection was lost',
    file: `${kubernetes}/middleware/identity-guard.ts`,
    search: 'if (isApiError(error) && (error.status === 0 || error.status === 401)) {',
    replace: 'if (isApiError(error) && error.status === 401) {',
  },
  {
    name: 'the claim of another fleet expires on the local clock',
    file: 'libs/fleet/src/leader-election/cluster-claim.ts',
    search: 'const now = found.serverTime ?? clock.now();',
    replace: 'const now = clock.now();',
  },
  {
    name: 'a Lease that does not change is observed again',
    file: 'libs/fleet/src/leader-election/leader-elector.ts',
    search: '    if (spec === this.#spec) return;\n',
    replace: '',
  },
];
