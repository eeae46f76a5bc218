import type { PlantedBug } from '@sluice/program/planted-bug';

const writer = 'services/writer/src';

export const writerBugs: readonly PlantedBug[] = [
  {
    name: 'a completed plan is applied again',
    file: `${writer}/fencing/plan-fence.ts`,
    search: 'return comparePlans(plan, this.#passed) <= 0 || (last !== undefined && comparePlans(plan, last) <= 0);',
    replace: 'return comparePlans(plan, this.#passed) < 0 || (last !== undefined && comparePlans(plan, last) < 0);',
  },
  {
    name: 'older plans are applied after newer ones',
    file: `${writer}/fencing/plan-fence.ts`,
    search: 'return comparePlans(plan, this.#passed) <= 0 || (last !== undefined && comparePlans(plan, last) <= 0);',
    replace: 'return comparePlans(plan, this.#passed) === 0 || (last !== undefined && comparePlans(plan, last) === 0);',
  },
  {
    name: 'inherited creates are applied again',
    file: `${writer}/partition/plan-checkpoint.ts`,
    search: 'return offset <= this.#inheritedUpTo;',
    replace: 'return offset < 0;',
  },
  {
    name: 'plans that may have been applied are applied',
    file: `${writer}/partition/plan-checkpoint.ts`,
    search: 'return offset <= this.#unknownUpTo;',
    replace: 'return offset < 0;',
  },
  {
    name: 'the checkpoint passes unfinished plans',
    file: `${writer}/partition/plan-checkpoint.ts`,
    search: 'if (finished === undefined) break;',
    replace: 'if (finished === undefined) continue;',
  },
  {
    name: 'the high-water mark is not stored',
    file: `${writer}/fencing/plan-fence.ts`,
    search: 'return [{ key, field, value: this.#passed }];',
    replace: 'return [];',
  },
  {
    name: 'two plans of a Service run at once',
    file: `${writer}/partition/plan-partition-worker.ts`,
    search: '      predecessor === undefined\n',
    replace: '      predecessor === undefined || signal.aborted === false\n',
  },
  {
    name: 'requests are sent without a lease',
    file: `${writer}/partition/plan-partition-worker.ts`,
    search: "if (!isCurrent()) throw new FencedError('lease expired; request not sent');",
    replace: '',
  },
  {
    name: 'a plan finishes before its Outcome is published',
    file: `${writer}/partition/plan-partition-worker.ts`,
    search: '    await Promise.all([record.stored, stored]);\n',
    replace: '    stored?.catch(() => {});\n',
  },
  {
    name: 'the Outcome of a plan does not wait for its log',
    file: `${writer}/partition/report-outcome.ts`,
    search: 'await record.stored;',
    replace: '',
  },
  {
    name: 'a failed mutation does not stop its group',
    file: `${writer}/apply/apply-mutations.ts`,
    search: "if (step.status !== 'applied') break;",
    replace: '',
  },
  {
    name: 'an object with other content counts as created',
    file: `${writer}/apply/apply-mutations.ts`,
    search: '&& equalContent(mutation.object, current)) {',
    replace: '&& equalContent(current, current)) {',
  },
  {
    name: 'an object that cannot be read counts as absent',
    file: `${writer}/apply/apply-mutations.ts`,
    search: "return error.kind === 'notFound' ? null : undefined;",
    replace: 'return null;',
  },
  {
    name: 'a deletion that a finalizer holds back counts as done',
    file: 'services/writer/src/apply/apply-mutations.ts',
    search: 'return current && { current };',
    replace: 'return undefined;',
  },
  {
    name: 'a refused delete counts as applied',
    file: `${writer}/apply/apply-mutations.ts`,
    search: "if (verb === 'delete' && current === null)",
    replace: "if (verb === 'delete' && current !== undefined)",
  },
  {
    name: 'deletes ignore the version',
    file: `${writer}/apply/apply-mutations.ts`,
    search: '        ...(resourceVersion !== undefined && { resourceVersion }),\n',
    replace: '',
  },
  {
    name: 'a transient error is final',
    file: `${writer}/apply/apply-mutations.ts`,
    search: "return error.kind === 'retry' ? 'unavailable' : 'rejected';",
    replace: "return 'rejected';",
  },
  {
    name: 'the worst status does not win',
    file: `${writer}/apply/apply-mutations.ts`,
    search: 'severity.indexOf(a) >= severity.indexOf(b) ? a : b;',
    replace: 'severity.indexOf(a) < severity.indexOf(b) ? a : b;',
  },
  {
    name: 'a writer stops before its requests have ended',
    file: `${writer}/partition/plan-partition-worker.ts`,
    search: 'await Promise.allSettled(this.#running.values());',
    replace: '',
  },
  {
    name: 'plans of other Services wait for each other',
    file: 'services/writer/src/partition/plan-partition-worker.ts',
    search: 'const predecessor = this.#tails.get(workKey);',
    replace: 'const predecessor = this.#tails.get(workKey) ?? [...this.#tails.values()].at(-1);',
  },
  {
    name: 'failed writes are counted as successful',
    file: 'libs/kubernetes/src/middleware.ts',
    search: 'onResponse(request.verb, request.resource, error.status);',
    replace: 'onResponse(request.verb, request.resource, null);',
  },
  {
    name: 'a failed request keeps its slot',
    file: `${writer}/scheduling/adaptive-limit.ts`,
    search: '      if (isOverload(error)) this.#overloaded',
    replace: '      if (isOverload(error)) this.#inFlight++;\n      if (isOverload(error)) this.#overloaded',
  },
  {
    name: 'a started plan is withdrawn',
    file: `${writer}/apply/apply-plan.ts`,
    search: 'const error = hasStarted() ? undefined : withdrawn();',
    replace: 'const error = withdrawn();',
  },
];
