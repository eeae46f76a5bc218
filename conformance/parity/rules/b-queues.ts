import type { Rule } from '../rule.ts';

export const queueRules: readonly Rule[] = [
  {
    id: 'B1',
    title: 'keys',
    broken: [
      {
        file: 'libs/messages/src/identifiers.ts',
        search: '`${key.cluster}/${key.namespace}/${key.service}`',
        replace: '`${key.cluster}/${key.service}/${key.namespace}`',
        tests: ['libs/messages/src/identifiers.test.ts'],
      },
    ],
  },
  {
    id: 'B2',
    title: 'one key at a time; later and at once',
    differs: true,
    broken: [
      {
        file: 'libs/service-state/src/due.ts',
        search: 'if (controllerState.inFlight !== null) return controllerState.inFlight.redeliverAt;',
        replace: '',
        tests: ['libs/service-state/src/decide.test.ts'],
      },
      {
        file: 'libs/service-state/src/controller-state.ts',
        search: 'Math.min(timers.dueAt, at)',
        replace: 'at',
        tests: ['libs/service-state/src/apply-change.test.ts'],
      },
    ],
  },
  {
    id: 'B3',
    title: 'back-off, limit of all retries',
    differs: true,
    broken: [
      {
        file: 'libs/service-state/src/retries.ts',
        search: 'backoffMs(backoff, retries.failures, ',
        replace: 'backoffMs(backoff, 0, ',
        tests: ['libs/service-state/src/retries.test.ts'],
      },
      {
        file: 'services/writer/src/scheduling/retry-limit.ts',
        search: 'perSecond * burstSeconds',
        replace: 'perSecond',
        tests: ['services/writer/src/scheduling/retry-limit.test.ts'],
      },
    ],
  },
  {
    id: 'B4',
    title: '16 attempts',
    differs: true,
    broken: [
      {
        file: 'libs/service-state/src/apply-outcome.ts',
        search: 'failures < settings.maxAttempts && !isFinal',
        replace: '!isFinal',
        tests: ['libs/service-state/src/apply-outcome.test.ts'],
      },
    ],
  },
  {
    id: 'B5',
    title: 'success resets failures',
    broken: [
      {
        file: 'libs/service-state/src/apply-outcome.ts',
        search: 'return { ...after, retries: { ...retries, failures: 0, heldBack: undefined, parkedSince: null } };',
        replace: 'return { ...after, retries: { ...retries, parkedSince: null } };',
        tests: ['libs/service-state/src/apply-outcome.test.ts'],
      },
    ],
  },
  {
    id: 'B6',
    title: 'levels of logs',
    differs: true,
    broken: [
      {
        file: 'services/writer/src/partition/report-outcome.ts',
        search: "plan.controller === endpointsWriter ? 'debug' : 'info'",
        replace: "'info'",
        tests: ['services/writer/src/partition/plan-partition-worker.test.ts'],
      },
    ],
  },
  {
    id: 'B7',
    title: 'Pod queue does not merge',
    note: 'no queue: facts are applied, and each is a cause',
    broken: [
      {
        file: 'libs/service-state/src/controller-state.ts',
        search: 'causes: mergeCauses(state.causes, causes),',
        replace: 'causes,',
        tests: ['libs/service-state/src/apply-change.test.ts'],
      },
    ],
  },
  {
    id: 'B8',
    title: 'invalid keys',
    broken: [
      {
        file: 'libs/messages/src/identifiers.ts',
        search: 'if (!isServiceKey(text)) {',
        replace: "if (service === '') {",
        tests: ['libs/messages/src/identifiers.test.ts'],
      },
    ],
  },
  {
    id: 'B9',
    title: 'errors of caches',
    note: 'no such caches; an error of the store is retried',
    broken: [
      {
        file: 'services/reconciler/src/partition-worker.ts',
        search: 'this.#scope.commit(checkpoint, entries);',
        replace: 'this.#scope.commit(checkpoint, entries).catch(() => {});',
        tests: ['services/reconciler/src/partition-worker.test.ts'],
      },
    ],
  },
  {
    id: 'B10',
    title: 'errors by cause',
    differs: true,
    broken: [
      {
        file: 'services/writer/src/apply/apply-mutations.ts',
        search: "return verb === 'create' ? 'namespaceTerminating' : 'rejected';",
        replace: "return 'rejected';",
        tests: ['services/writer/src/apply/apply-mutations.test.ts'],
      },
      {
        file: 'services/writer/src/apply/apply-mutations.ts',
        search: "if (verb === 'delete' && current === null) return",
        replace: "if (verb === 'delete' && current !== null) return",
        tests: ['services/writer/src/apply/apply-mutations.test.ts'],
      },
      {
        file: 'libs/service-state/src/apply-outcome.ts',
        search: "    case 'namespaceTerminating': {\n",
        replace:
          "    case 'namespaceTerminating':\n      if (outcome.status !== 'applied') return afterFailure(idle, outcome, now, settings);\n    {\n",
        tests: ['libs/service-state/src/apply-outcome.test.ts'],
      },
    ],
  },
  {
    id: 'B11',
    title: 'trigger time of a retry',
    differs: true,
    broken: [
      {
        file: 'libs/service-state/src/evolve.ts',
        search: 'tracked, now, settings), inFlight });',
        replace:
          'tracked, now, settings), trackers: { ...state.controller(controller).trackers, ...tracked }, inFlight });',
        tests: ['libs/service-state/src/apply-outcome.test.ts'],
      },
    ],
  },
];
