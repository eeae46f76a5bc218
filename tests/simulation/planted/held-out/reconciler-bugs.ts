import type { PlantedBug } from '@sluice/program/planted-bug';

const reconciler = 'services/reconciler/src';

export const reconcilerBugs: readonly PlantedBug[] = [
  {
    name: 'what is due at this instant has to wait',
    file: `${reconciler}/delaying-queue.ts`,
    search: 'first !== undefined && first.at <= now;',
    replace: 'first !== undefined && first.at < now;',
  },
  {
    name: 'the previous Change is taken for one of the same watcher',
    file: `${reconciler}/gap-detector.ts`,
    search: 'const previous: Stamp = { epoch: previousEpoch ?? stamp.epoch, sequence: previousSequence };',
    replace: 'const previous: Stamp = { epoch: stamp.epoch, sequence: previousSequence };',
  },
  {
    name: 'a Service that sends Changes keeps its place among the silent ones',
    file: `${reconciler}/resync-requester.ts`,
    search: '    this.#lastSeen.delete(key);\n    this.#lastSeen.set(key, now);\n',
    replace: '    this.#lastSeen.set(key, now);\n',
  },
  {
    name: 'removals are stored after the fields of a Service that came back',
    file: `${reconciler}/partition-state.ts`,
    search: '      ...removals,\n      ...changed,\n',
    replace: '      ...changed,\n      ...removals,\n',
  },
  {
    name: 'deadlines of a former owner are kept',
    file: `${reconciler}/partition-worker.ts`,
    search: "    this.#state.evolveAll({ kind: 'clockChanged' }, clock.now(), this.#options.settings);\n",
    replace: '',
  },
  {
    name: 'the end of the log is read after the resync was requested',
    file: `${reconciler}/partition-worker.ts`,
    search: `    const end = await bus.end('changes', partition);
    this.#state.evolveAll({ kind: 'messagesLost' }, clock.now(), this.#options.settings);
    const id = \`\${partition}/\${fencingToken}/\${clock.now()}\`;
    await bus.append('requests', 0, [resyncRequest({ partition }, reason, id)]);
`,
    replace: `    this.#state.evolveAll({ kind: 'messagesLost' }, clock.now(), this.#options.settings);
    const id = \`\${partition}/\${fencingToken}/\${clock.now()}\`;
    await bus.append('requests', 0, [resyncRequest({ partition }, reason, id)]);
    const end = await bus.end('changes', partition);
`,
  },
  {
    name: 'plans that were decided meanwhile count as published',
    file: `${reconciler}/partition-worker.ts`,
    search: '      planNumbers.markPublished(last);\n',
    replace: '      planNumbers.markPublished(planNumbers.last);\n',
  },
  {
    name: 'each step postpones the commit',
    file: `${reconciler}/pending-commit.ts`,
    search: 'this.#deadline ??= now',
    replace: 'this.#deadline = now',
  },
  {
    name: 'plans of a former owner are published by Service',
    file: `${reconciler}/service-decider.ts`,
    search: 'return plans.sort((a, b) => a.plan.message.plan.number - b.plan.message.plan.number);',
    replace: 'return plans;',
  },
  {
    name: 'a plan that is sent again has the id of the first one',
    file: `${reconciler}/service-decider.ts`,
    search: "const again = redeliveries === 0 ? [] : ['again', redeliveries];",
    replace: 'const again: readonly string[] = [];',
  },
  {
    name: 'a late removal discards a cluster that is served again',
    file: `${reconciler}/record-processor.ts`,
    search: '        if (state.gaps.hasSeenEpochAfter(cluster, epoch)) return;\n',
    replace: '',
  },
  {
    name: 'the end of a snapshot whose beginning is missing settles a resync',
    file: `${reconciler}/record-processor.ts`,
    search: 'change.snapshot?.last === true && (change.snapshot.first || service.snapshot.open !== null);',
    replace: 'change.snapshot?.last === true;',
  },
  {
    name: 'resync requests are not awaited',
    file: `${reconciler}/resync-requester.ts`,
    search: 'for (const [key, reason] of this.#pending.takeDue()) await this.#requestService(key, reason);',
    replace: 'for (const [key, reason] of this.#pending.takeDue()) void this.#requestService(key, reason);',
  },
];
