import { type Rule, recorded } from '../rule.ts';

export const endpointSliceRules: readonly Rule[] = [
  {
    id: 'E1',
    title: 'Service events',
    broken: [
      {
        file: 'libs/service-state/src/apply-fact.ts',
        search: 'return work.addAll();',
        replace: "return work.add('endpoints');",
        tests: ['libs/service-state/src/apply-change.test.ts'],
      },
    ],
  },
  {
    id: 'E2',
    title: 'Pod events',
    broken: [
      {
        file: 'libs/service-state/src/apply-fact.ts',
        search: "work.addReaders('pods', settings.batchPeriodMs);",
        replace: "work.addReaders('pods', { endpoints: settings.batchPeriodMs.endpoints ?? 0 });",
        tests: ['libs/service-state/src/apply-change.test.ts'],
      },
    ],
  },
  {
    id: 'E3',
    title: 'Node events',
    differs: true,
    broken: [
      {
        file: 'services/watcher/src/event-handler.ts',
        search: 'if (isMoved || oldObject?.condition !== newObject?.condition) this.#podsOnNode(name, mark);',
        replace: '',
        tests: ['services/watcher/src/event-handler.test.ts'],
      },
      {
        file: 'services/watcher/src/event-handler.ts',
        search: "mark(namespace, serviceName, { kind: 'topology' });",
        replace: '',
        tests: ['services/watcher/src/event-handler.test.ts'],
      },
    ],
  },
  {
    id: 'E4',
    title: 'slice added',
    differs: true,
    broken: [
      {
        file: 'libs/service-state/src/apply-fact.ts',
        search: 'noticeForeignWrite(state, controller, fact.slice, work.now, settings);\n    work.repair(controller);',
        replace: 'noticeForeignWrite(state, controller, fact.slice, work.now, settings);',
        tests: ['libs/service-state/src/apply-change.test.ts'],
      },
    ],
  },
  {
    id: 'E5',
    title: 'slice updated',
    differs: true,
    broken: [
      {
        file: 'libs/service-state/src/apply-fact.ts',
        search: '[fact.slice, ...(known ? [known] : [])].map(observerOf)',
        replace: '[fact.slice].map(observerOf)',
        tests: ['libs/service-state/src/apply-change.test.ts'],
      },
    ],
  },
  {
    id: 'E6',
    title: 'slice deleted',
    differs: true,
    broken: [
      {
        file: 'libs/service-state/src/apply-fact.ts',
        search: 'if (!isDeletedByPlan(state, controller, fact.uid)) work.repair(controller);',
        replace: '',
        tests: ['libs/service-state/src/apply-change.test.ts'],
      },
    ],
  },
  {
    id: 'E7',
    title: 'own writes ignored',
    broken: [
      {
        file: 'libs/service-state/src/apply-fact.ts',
        search: 'if (recordWatchEcho(state, controller, fact.name, resourceVersion)) continue;',
        replace: '',
        tests: ['libs/service-state/src/apply-outcome.test.ts'],
      },
    ],
  },
  {
    id: 'E8',
    title: 'Service gone',
    differs: true,
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/controller.ts',
        search: 'if (service === null) return { plan: emptyPlan, triggers: null, hints: null, counts: null };',
        replace: 'if (service === null) return { plan: emptyPlan, triggers: null, hints: inputs.hints, counts: null };',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/controller.ts',
        search: 'if (service === null) return { plan: emptyPlan, triggers',
        replace:
          'if (service === null) return { plan: { groups: [{ mutations: [...inputs.slices].map(deletion) }], events: [], incomplete: [] }, triggers',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
  {
    id: 'E9',
    title: 'ExternalName, no selector',
    differs: true,
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/controller.ts',
        search: "service.type === 'ExternalName' || service.selector === null",
        replace: 'service.selector === null',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/controller.ts',
        search: "service.type === 'ExternalName' || service.selector === null",
        replace: "service.type === 'ExternalName'",
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
  {
    id: 'E10',
    title: 'which slices',
    differs: true,
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/controller.ts',
        search: '.filter(({ metadata }) => metadata.deletionTimestamp === undefined)',
        replace: '',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
  {
    id: 'E11',
    title: 'error',
    broken: [
      {
        file: 'libs/controllers/src/failure-events.ts',
        search: "reason: 'FailedToUpdateEndpointSlices'",
        replace: "reason: 'FailedToUpdateEndpointSlice'",
        tests: ['libs/controllers/src/failure-events.test.ts'],
      },
    ],
  },
  {
    id: 'E12',
    title: 'address types',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/controller.ts',
        search: 'for (const { addressType } of unsupported) hints = removeHints(hints, addressType);',
        replace: '',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/controller.ts',
        search: "return ['IPv4', 'IPv6'];",
        replace: "return ['IPv4'];",
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/controller.ts',
        search: "isIpv6(service.clusterIP) ? 'IPv6' : 'IPv4'",
        replace: "'IPv4'",
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/controller.ts',
        search:
          'for (const slice of unsupported) groups.push({ mutations: [{ ...deletion(slice), unsupportedAddressType: true }] });',
        replace: '',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
  {
    id: 'E13',
    title: 'types side by side',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/controller.ts',
        search: 'if (decision.mutations.length > 0) groups.push({ mutations: decision.mutations });',
        replace: 'groups.splice(0, 1, { mutations: [...(groups[0]?.mutations ?? []), ...decision.mutations] });',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
      {
        file: 'services/writer/src/apply/apply-mutations.ts',
        search: "if (group.status === 'rejected') throw group.reason;\n    return group.value;",
        replace:
          "if (group.status === 'rejected') throw group.reason;\n    return groups[0] === group ? group.value : [];",
        tests: ['services/writer/src/apply/apply-mutations.test.ts'],
      },
    ],
  },
  {
    id: 'E14',
    title: 'owned slices',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/slice.ts',
        search: " && kind === 'Service'",
        replace: '',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/slice.ts',
        search: " && apiVersion === 'v1'",
        replace: '',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/slice.ts',
        search: 'uid === service.uid && kind',
        replace: 'kind',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
  {
    id: 'E15',
    title: 'Pods and Nodes',
    differs: true,
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/desired-endpoints.ts',
        search: 'if (node === null && !service.publishNotReadyAddresses) skipped.push(missingNode(pod, service));',
        replace: '',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/desired-endpoints.ts',
        search: 'if (node === null && !service.publishNotReadyAddresses) return undefined;',
        replace: '',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
  {
    id: 'E16',
    title: 'ports',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/desired-endpoints.ts',
        search: '...(appProtocol !== null && { appProtocol })',
        replace: '',
        tests: [recorded('podToEndpoint')],
      },
      {
        file: 'libs/controllers/src/endpointslice/desired-endpoints.ts',
        search: 'portMapKey(endpointPorts(service, pod))',
        replace: 'portMapKey([])',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
  {
    id: 'E17',
    title: 'endpoint',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/desired-endpoints.ts',
        search: 'if (ip.family === type) addresses',
        replace: 'if (ip.family === type && addresses.length === 0) addresses',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/desired-endpoints.ts',
        search: 'service.publishNotReadyAddresses || (serving && !terminating)',
        replace: 'serving && !terminating',
        tests: [recorded('podToEndpoint')],
      },
      {
        file: 'libs/controllers/src/endpointslice/desired-endpoints.ts',
        search: "...(node !== null && node.zone !== '' && { zone: node.zone }),",
        replace: '',
        tests: [recorded('podToEndpoint')],
      },
    ],
  },
  {
    id: 'E18',
    title: 'terminating Pods',
    broken: [
      {
        file: 'libs/controllers/src/endpointslice/desired-endpoints.ts',
        search: 'if (!shouldPodBeInEndpoints(pod, true)) continue;',
        replace: 'if (!shouldPodBeInEndpoints(pod, false)) continue;',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpointslice/desired-endpoints.ts',
        search: 'const terminating = pod.terminating;',
        replace: 'const terminating = false;',
        tests: ['libs/controllers/src/endpointslice/controller.test.ts'],
      },
    ],
  },
];
