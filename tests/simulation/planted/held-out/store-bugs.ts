import type { PlantedBug } from '@sluice/program/planted-bug';

const [store, redis] = ['libs/store/src', 'libs/store/src/redis'];

export const storeBugs: readonly PlantedBug[] = [
  {
    name: 'an owner whose last commits are lost continues',
    file: `${store}/memory-store.ts`,
    search: 'if (commit.expectedOffset !== offset) {',
    replace: 'if (commit.expectedOffset < offset) {',
  },
  {
    name: 'a claim fences the former owner only with the first commit',
    file: `${store}/memory-store.ts`,
    search: '    scope.fencingToken = fencingToken;\n',
    replace: '',
  },
  {
    name: 'a member that is leaving counts as a member',
    file: `${store}/memory-leases.ts`,
    search: 'const active = [...members].filter(([, { leaving }]) => !leaving);',
    replace: 'const active = [...members];',
  },
  {
    name: 'Redis does not compare the version of a commit',
    file: `${redis}/lua/commit.lua`,
    search: "if version ~= '' and held[2] ~= version then return { 'version', held[2] or '' } end\n",
    replace: '',
  },
  {
    name: 'Redis cuts a large commit between a field and its value',
    file: `${redis}/lua/commit.lua`,
    search: 'local CHUNK = 1000',
    replace: 'local CHUNK = 999',
  },
  {
    name: 'a renewal by the lease thread counts from its answer',
    file: `${redis}/lease-renewer.ts`,
    search: 'if (await this.#options.renew(options, leases)) cells.renewedAt = sentAt;',
    replace: 'if (await this.#options.renew(options, leases)) cells.renewedAt = this.#options.clock.monotonic();',
  },
];
