import type { Rule } from '../rule.ts';

const reconciler = 'libs/controllers/src/endpointslicemirroring/controller.ts';
const addresses = 'libs/controllers/src/endpointslicemirroring/mirrored-addresses.ts';
const reconcilerTest = 'libs/controllers/src/endpointslicemirroring/controller.test.ts';
const facts = 'libs/service-state/src/apply-fact.ts';
const changeTest = 'libs/service-state/src/apply-change.test.ts';

/** What the mirroring controller reads, and when. */
export const mirroringInputRules: readonly Rule[] = [
  {
    id: 'H1',
    title: 'Endpoints events',
    differs: true,
    broken: [
      {
        file: facts,
        search: "work.repair(endpointsWriter);\n  work.addReaders('endpoints');",
        replace: 'work.repair(endpointsWriter);',
        tests: [changeTest],
      },
      {
        file: facts,
        search: "return work.addReaders('endpoints');",
        replace: 'return;',
        tests: [changeTest],
      },
    ],
  },
  {
    id: 'H2',
    title: 'mirrorable',
    broken: [
      {
        file: reconciler,
        search: "metadata.labels?.[skipMirrorLabel] === 'true'",
        replace: 'metadata.labels?.[skipMirrorLabel] !== undefined',
        tests: [reconcilerTest],
      },
      {
        file: reconciler,
        search: '!Object.hasOwn(metadata.annotations ?? {}, leaderAnnotation)',
        replace: '!metadata.annotations?.[leaderAnnotation]',
        tests: [reconcilerTest],
      },
    ],
  },
  {
    id: 'H3',
    title: 'Service events',
    differs: true,
    broken: [
      {
        file: facts,
        search: 'return work.addAll();',
        replace: "work.add('endpoints');\n      return work.add('endpointslice');",
        tests: [changeTest],
      },
    ],
  },
  {
    id: 'H4',
    title: 'slice events',
    differs: true,
    broken: [
      {
        file: facts,
        search: 'new Set([fact.slice, ...(known ? [known] : [])].map(observerOf))',
        replace: '[observerOf(fact.slice)]',
        tests: [changeTest],
      },
      {
        file: 'libs/controllers/src/registry.ts',
        search: 'for (const { managedBy, name } of all) byManager',
        replace: 'for (const { managedBy, name } of all.slice(0, 2)) byManager',
        tests: [changeTest],
      },
    ],
  },
  {
    id: 'H5',
    title: 'batch period',
    note: 'of slice events only',
    broken: [
      {
        file: 'libs/service-state/src/policy.ts',
        search: 'controller === endpointsWriter ? 0 : batchPeriodMs',
        replace: "controller === 'endpointslice' ? batchPeriodMs : 0",
        tests: [changeTest],
      },
      {
        file: facts,
        search: "work.repair(endpointsWriter);\n  work.addReaders('endpoints');",
        replace: "work.repair(endpointsWriter);\n  work.repair('endpointslicemirroring');",
        tests: [changeTest],
      },
    ],
  },
  {
    id: 'H6',
    title: 'clean-up',
    broken: [
      {
        file: reconciler,
        search: 'endpoints === null || !isMirrorable(endpoints) ||',
        replace: 'endpoints === null ||',
        tests: [reconcilerTest],
      },
      {
        file: reconciler,
        search: 'service === null || service.selector !== null',
        replace: 'service === null',
        tests: [reconcilerTest],
      },
      {
        file: reconciler,
        search: 'service === null || service.selector !== null',
        replace: "service === null || service.selector !== null || service.type === 'ExternalName'",
        tests: [reconcilerTest],
      },
      {
        file: 'libs/service-state/src/reconcile.ts',
        search: 'if (trackers.needsNone?.(',
        replace: 'if (false && trackers.needsNone?.(',
        tests: ['libs/service-state/src/decide.test.ts'],
      },
    ],
  },
  {
    id: 'H7',
    title: 'failures of a clean-up',
    broken: [
      {
        file: reconciler,
        search: 'groups: slices.map((slice) => ({ mutations: [deletion(slice)] })),',
        replace: 'groups: [{ mutations: slices.map(deletion) }],',
        tests: [reconcilerTest],
      },
      {
        file: 'libs/controllers/src/failure-events.ts',
        search: "const [first = ''] = messages;",
        replace: "const first = messages.join(', ');",
        tests: ['libs/controllers/src/failure-events.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslicemirroring/controller.ts',
        search: 'messages, groups.length',
        replace: 'messages, messages.length',
        tests: ['services/writer/src/partition/plan-partition-worker.test.ts'],
      },
    ],
  },
  {
    id: 'H8',
    title: 'slices it reads',
    note: 'those being deleted, too',
    broken: [
      {
        file: reconciler,
        search: '[...inputs.slices].sort(',
        replace: '[...inputs.slices].filter(({ metadata }) => metadata.deletionTimestamp === undefined).sort(',
        tests: [reconcilerTest],
      },
      {
        file: 'libs/service-state/src/reconcile.ts',
        search: 'managerOf(slice) === controller && belongsToService(state, slice)',
        replace: 'belongsToService(state, slice)',
        tests: ['libs/service-state/src/decide.test.ts'],
      },
    ],
  },
  {
    id: 'H9',
    title: 'repacked first',
    broken: [
      {
        file: addresses,
        search: 'of repackSubsets(endpoints.subsets)',
        replace: 'of endpoints.subsets ?? []',
        tests: [reconcilerTest],
      },
    ],
  },
  {
    id: 'H10',
    title: 'groups',
    broken: [
      {
        file: addresses,
        search: 'groupKey(ip.family, portsKey)',
        replace: "groupKey('IPv4', portsKey)",
        tests: [reconcilerTest],
      },
      {
        file: addresses,
        search: "name: name ?? '',",
        replace: '...(name !== undefined && { name }),',
        tests: [reconcilerTest],
      },
      {
        file: addresses,
        search: '...(app !== null && { appProtocol: app }) }',
        replace: '}',
        tests: [reconcilerTest],
      },
    ],
  },
  {
    id: 'H11',
    title: 'limit per subset',
    broken: [
      {
        file: addresses,
        search: 'if (added >= maxEndpointsPerSubset) return;',
        replace: 'if (added + invalid >= maxEndpointsPerSubset) return;',
        tests: [reconcilerTest],
      },
      {
        file: addresses,
        search:
          'for (const address of ready) mirror(address, true);\n    for (const address of notReady) mirror(address, false);',
        replace:
          'for (const address of notReady) mirror(address, false);\n    for (const address of ready) mirror(address, true);',
        tests: [reconcilerTest],
      },
    ],
  },
  {
    id: 'H12',
    title: 'endpoint',
    broken: [
      {
        file: addresses,
        search: 'mirroredEndpoint(ip.text, address, ready)',
        replace: 'mirroredEndpoint(address.ip, address, ready)',
        tests: [reconcilerTest],
      },
      {
        file: addresses,
        search: 'conditions: { ready },',
        replace: 'conditions: { ready, serving: ready },',
        tests: [reconcilerTest],
      },
      {
        file: addresses,
        search: 'nodeName !== null && { nodeName }),',
        replace: 'nodeName !== null && { nodeName, zone: nodeName }),',
        tests: [reconcilerTest],
      },
    ],
  },
];
