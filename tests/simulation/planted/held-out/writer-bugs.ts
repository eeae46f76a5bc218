import type { PlantedBug } from '@sluice/program/planted-bug';

const writer = 'services/writer/src';

export const writerBugs: readonly PlantedBug[] = [
  {
    name: 'an update in a terminating namespace counts as needless',
    file: `${writer}/apply/apply-mutations.ts`,
    search: "return verb === 'create' ? 'namespaceTerminating' : 'rejected';",
    replace: "return 'namespaceTerminating';",
  },
  {
    name: 'a slice with more endpoints counts as equal',
    file: `${writer}/apply/find-competing-write.ts`,
    search: 'return list.length === part.length && part.every(',
    replace: 'return part.every(',
  },
  {
    name: 'a write is retried without backoff',
    file: `${writer}/apply/apply-plan.ts`,
    search: 'Math.max(backoffMs(backoff, attempt, random), error.retryAfterMs ?? 0)',
    replace: '(error.retryAfterMs ?? 0)',
  },
  {
    name: 'a plan passed over lowers the high-water mark',
    file: `${writer}/fencing/plan-fence.ts`,
    search: 'for (const plan of plans) if (comparePlans(plan, this.#passed) > 0) this.#passed = plan;',
    replace: 'for (const plan of plans) this.#passed = plan;',
  },
  {
    name: 'an older plan replaces the mark of its Service',
    file: `${writer}/fencing/plan-fence.ts`,
    search: 'if (last === undefined || comparePlans(plan, last) > 0) this.#beyond.set(workKey, plan);',
    replace: 'if (last !== plan) this.#beyond.set(workKey, plan);',
  },
  {
    name: 'inherited plans are counted before the claim',
    file: `${writer}/partition/plan-checkpoint.ts`,
    search: '    const { isNew, intact, entries, isReadable } = await this.#scope.claim();\n',
    replace: `    const ends = await bus.end('mutations', partition);
    const { isNew, intact, entries, isReadable } = await this.#scope.claim();
    this.#inheritedUpTo = ends.offset;
    if (!isNew && intact && isReadable && this.#fence.load(entries)) return this.#report();
`,
  },
  {
    name: 'the bounds of a lost log apply to the next one',
    file: `${writer}/partition/plan-checkpoint.ts`,
    search: '    this.#unknownUpTo = 0;\n    this.#inheritedUpTo = 0;\n',
    replace: '',
  },
  {
    name: 'finished plans of a lost log are remembered',
    file: `${writer}/partition/plan-checkpoint.ts`,
    search: '    this.#finished.clear();\n',
    replace: '',
  },
  {
    name: 'commits continue after one that failed',
    file: `${writer}/partition/plan-checkpoint.ts`,
    search: '    if (this.#hasFailed) return;\n',
    replace: '',
  },
  {
    name: 'a finished plan removes those that wait behind it from the queue',
    file: `${writer}/partition/plan-partition-worker.ts`,
    search: 'if (this.#tails.get(workKey)?.handled === handled) {',
    replace: 'if (this.#tails.has(workKey)) {',
  },
  {
    name: 'two owners report under the same id',
    file: `${writer}/partition/report-outcome.ts`,
    search: 'const head = { key: record.key, id, headers',
    replace: "const head = { key: record.key, id: record.id + '/outcome', headers",
  },
  {
    name: 'the lease is not checked after waiting for the log',
    file: `${writer}/partition/report-outcome.ts`,
    search: '    await record.stored;\n    assertCurrent();\n',
    replace: '    await record.stored;\n',
  },
  {
    name: 'a plan that was held back passes when it is repeated',
    file: `${writer}/confirmation/mass-change-guard.ts`,
    search: 'if (delta.repeated) return true;',
    replace: 'if (delta.repeated) return false;',
  },
  {
    name: 'a request that no longer waits takes a slot later',
    file: `${writer}/scheduling/adaptive-limit.ts`,
    search: '      const onAbort = () => {\n        remove();\n',
    replace: '      const onAbort = () => {\n',
  },
];
