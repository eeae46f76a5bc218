import type { PlantedBug } from '@sluice/program/planted-bug';

const reconciler = 'services/reconciler/src';

export const reconcilerBugs: readonly PlantedBug[] = [
  {
    name: 'gaps are never detected',
    file: `${reconciler}/gap-detector.ts`,
    search: 'if (compareStamps(previous, last) <= 0) return undefined;',
    replace: 'if (compareStamps(previous, last) !== 0) return undefined;',
  },
  {
    name: 'a repeated Change moves the gap detector back',
    file: `${reconciler}/gap-detector.ts`,
    search: '    if (last && compareStamps(stamp, last) <= 0) return undefined;\n    this.#last.set',
    replace: '    this.#last.set',
  },
  {
    name: 'the gap detector forgets where it is',
    file: `${reconciler}/partition-state.ts`,
    search: '      ...this.gaps.drainChanges(),\n',
    replace: '',
  },
  {
    name: 'a cluster that was removed may continue anywhere',
    file: `${reconciler}/gap-detector.ts`,
    search: 'const wasRemoved = this.#removed.delete(cluster);',
    replace: 'const wasRemoved = this.#removed.delete(cluster) && last === null;',
  },
  {
    name: 'an open gap is stored as closed',
    file: `${reconciler}/gap-detector.ts`,
    search: 'this.#open.add(cluster);',
    replace: '',
  },
  {
    name: 'plans are published before they are committed',
    file: `${reconciler}/partition-worker.ts`,
    search:
      'if ((plans.length > 0 && !isVolatile) || this.#pending.isDue(now)) await this.#commitPending();\n    await this.#publish(plans);',
    replace:
      'await this.#publish(plans);\n    if ((plans.length > 0 && !isVolatile) || this.#pending.isDue(now)) await this.#commitPending();',
  },
  {
    name: 'committed plans of a former owner are not published',
    file: `${reconciler}/partition-worker.ts`,
    search: '    await this.#publishUnpublished();\n',
    replace: '',
  },
  {
    name: 'records are released before the commit',
    file: `${reconciler}/partition-worker.ts`,
    search: 'reader.release(this.#checkpoint.offset);',
    replace: 'reader.release(batch?.at(-1)?.offset ?? this.#checkpoint.offset);',
  },
  {
    name: 'lost commits go unnoticed',
    file: `${reconciler}/partition-worker.ts`,
    search: '    if (!intact) {\n',
    replace: '    if (!intact && isLoaded === false) {\n',
  },
  {
    name: 'states stay valid after a truncated log',
    file: `${reconciler}/partition-worker.ts`,
    search: "this.#state.evolveAll({ kind: 'messagesLost' }, clock.now(), this.#options.settings);",
    replace: '',
  },
  {
    name: 'the checkpoint does not move without a plan',
    file: `${reconciler}/pending-commit.ts`,
    search: 'this.#offset = offset ?? this.#offset;',
    replace: 'this.#offset ??= offset;',
  },
  {
    name: 'plan numbers start again after a take-over',
    file: `${reconciler}/partition-state.ts`,
    search: 'this.value = this.#stored = Number(value);',
    replace: 'this.#stored = Number(value);',
  },
  {
    name: 'all plans count as published at once',
    file: `${reconciler}/partition-state.ts`,
    search: 'return number <= this.#published.value;',
    replace: 'return number <= this.#last.value;',
  },
  {
    name: 'a resync request is never repeated',
    file: `${reconciler}/pending-resyncs.ts`,
    search: 'this.#queue.set(key, now + delayMs);',
    replace: '',
  },
  {
    name: 'a dead letter requests no resync',
    file: `${reconciler}/partition-worker.ts`,
    search: '    this.#resyncs.reportUnreadable(record.key, reason);\n',
    replace: '',
  },
  {
    name: 'dropped Services come back with late Changes',
    file: `${reconciler}/record-processor.ts`,
    search: '    if (!state.services.has(key) && state.gaps.hasSeen(change)) return;\n',
    replace: '',
  },
  {
    name: 'removed fields of dropped Services stay stored',
    file: `${reconciler}/partition-state.ts`,
    search: '    this.#removals.push(...state.drainStoredFields(key));\n',
    replace: '',
  },
  {
    name: 'Outcomes of old plans are applied',
    file: 'libs/service-state/src/apply-outcome.ts',
    search: 'return inFlight !== null && comparePlans(inFlight.message.plan, plan) === 0;',
    replace: 'return inFlight !== null && plan.number > 0;',
  },
  {
    name: 'repeated Changes are applied again',
    file: 'libs/service-state/src/apply-change.ts',
    search: 'if (compareStamps(stamp, state.snapshot.stamp) <= 0) return;',
    replace: 'if (compareStamps(stamp, state.snapshot.stamp) === 0) return;',
  },
  {
    name: 'a snapshot keeps Pods that it does not confirm',
    file: 'libs/service-state/src/apply-change.ts',
    search: 'if (isMissing(stamp)) state.removePod(name);',
    replace: '',
  },
  {
    name: 'decisions are made in the middle of a snapshot',
    file: 'libs/service-state/src/due.ts',
    search: 'return complete && open === null && partial !== true;',
    replace: 'return true;',
  },
  {
    name: 'the state of a deleted Service is never dropped if only an Outcome has reported a deletion',
    file: 'libs/service-state/src/due.ts',
    search: 'let next = isEmpty(state) ? keptUntil(state, now) : null;',
    replace: 'let next: number | null = null;',
  },
  {
    name: 'nothing is decided for Endpoints whose Service was deleted',
    file: 'libs/service-state/src/due.ts',
    search: 'return isComplete(state) ? wantsDecisionAt(controllerState.timers) : null;',
    replace: `const isLeft = controller === 'endpoints' && state.endpoints && !state.service?.service;
  return isComplete(state) && !isLeft ? wantsDecisionAt(controllerState.timers) : null;`,
  },
  {
    name: 'each new owner requests a resync of its partition',
    file: `${reconciler}/partition-worker.ts`,
    search: '    await this.#publishUnpublished();\n',
    replace: `    await this.#publishUnpublished();
    const { bus, partition } = this.#options;
    const request = resyncRequest({ partition }, 'no committed offset', String(clock.now()));
    if (isFirstRun) await bus.append('requests', 0, [request]);
`,
  },
  {
    name: 'a repair that is made early delays the next one',
    file: 'libs/service-state/src/controller-state.ts',
    search: 'repairAt === null ? null : Math.min(repairAt, now)',
    replace: 'repairAt',
  },
  {
    name: 'an older slice replaces a newer one',
    file: 'libs/service-state/src/apply-fact.ts',
    search: '  if (order < 0) return;\n  const changed = order === 0 && known ?',
    replace: '  const changed = order === 0 && known ?',
  },
  {
    name: 'deleted slices come back',
    file: 'libs/service-state/src/apply-fact.ts',
    search: "  if (!exists(state, 'endpointslices', fact.slice.metadata, work.now, settings.policy)) return;\n",
    replace: '',
  },
  {
    name: 'an overdue plan is not published again',
    file: 'libs/service-state/src/decide.ts',
    search: 'if (state.controller(controller).inFlight !== null) return',
    replace: 'if (state.controller(controller).inFlight?.redeliveries) return',
  },
  {
    name: 'a conflict is not decided again',
    file: 'libs/service-state/src/apply-outcome.ts',
    search: "    case 'conflict':\n    case 'unavailable':",
    replace:
      "    case 'conflict':\n      return { ...idle, retries: { ...idle.retries, failures: 0 } };\n    case 'unavailable':",
  },
  {
    name: 'names do not depend on the plan',
    file: 'libs/service-state/src/decide.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a part of the source
    search: '`${ownerUid}/${controller}/${epoch}/${number}/${place}`',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a part of the source
    replace: '`${ownerUid}/${controller}/${place}/${epoch - epoch}${number - number}`',
  },
  {
    name: 'the replacement of an unconfirmed plan gets new names',
    file: 'libs/service-state/src/decide.ts',
    search: 'unconfirmed: unconfirmedCreates,',
    replace: 'unconfirmed: unconfirmedCreates && undefined,',
  },
  {
    name: 'plan numbers are used twice after a loss',
    file: `${reconciler}/partition-worker.ts`,
    search: 'if (!isFirstRun && (isNew || !intact)) {',
    replace: 'if (!isFirstRun && intact && isNew) {',
  },
  {
    name: 'states stay valid after a gap',
    file: `${reconciler}/resync-requester.ts`,
    search:
      '      if (service.key.cluster !== cluster) continue;\n      evolve(service, messagesLost, now, this.#options.settings);',
    replace: '      if (service.key.cluster !== cluster) continue;',
  },
  {
    name: 'tombstones are kept after a loss',
    file: 'libs/service-state/src/evolve.ts',
    search: '  state.clearTombstones();\n',
    replace: '',
  },
];
