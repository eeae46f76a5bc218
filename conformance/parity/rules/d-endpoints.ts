import { type Rule, recorded } from '../rule.ts';

export const endpointsRules: readonly Rule[] = [
  {
    id: 'D1',
    title: 'Service events',
    broken: [
      {
        file: 'libs/service-state/src/apply-fact.ts',
        search: 'return work.addAll();',
        replace: "return work.add('endpointslice');",
        tests: ['libs/service-state/src/apply-change.test.ts'],
      },
    ],
  },
  {
    id: 'D2',
    title: 'Pod events, batch period',
    broken: [
      {
        file: 'libs/service-state/src/apply-fact.ts',
        search: "work.addReaders('pods', settings.batchPeriodMs);",
        replace: "work.addReaders('pods');",
        tests: ['libs/service-state/src/apply-change.test.ts'],
      },
    ],
  },
  {
    id: 'D3',
    title: 'Endpoints events',
    differs: true,
    broken: [
      {
        file: 'libs/service-state/src/apply-fact.ts',
        search: 'if (!isDeletedByPlan(state, endpointsWriter, fact.uid)) work.repair(endpointsWriter);',
        replace: '',
        tests: ['libs/service-state/src/apply-change.test.ts'],
      },
      {
        file: 'libs/service-state/src/apply-fact.ts',
        search: 'if (!recordWatchEcho(state, endpointsWriter, name, resourceVersion)) work.repair(endpointsWriter);',
        replace: '',
        tests: ['libs/service-state/src/apply-change.test.ts'],
      },
    ],
  },
  {
    id: 'D4',
    title: 'sweep at the start',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: 'return !Object.hasOwn(endpoints.metadata.annotations ?? {}, leaderAnnotation);',
        replace: 'return true;',
        tests: ['libs/service-state/src/apply-change.test.ts'],
      },
      {
        file: 'libs/service-state/src/apply-change.ts',
        search: '    if (isLeftover(state.endpoints?.endpoints, state.service?.service)) state.setOrphaned(true);\n',
        replace: '',
        tests: ['libs/service-state/src/apply-change.test.ts'],
      },
    ],
  },
  {
    id: 'D5',
    title: 'Service gone',
    differs: true,
    broken: [
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: 'inputs.orphaned && existing !== null ?',
        replace: 'existing !== null ?',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
      {
        file: 'libs/service-state/src/apply-fact.ts',
        search: 'if (state.service?.service) state.setOrphaned(true);',
        replace: '',
        tests: ['libs/service-state/src/apply-change.test.ts'],
      },
    ],
  },
  {
    id: 'D6',
    title: 'ExternalName, no selector',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: "service.type === 'ExternalName' || service.selector === null",
        replace: 'service.selector === null',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: "service.type === 'ExternalName' || service.selector === null",
        replace: "service.type === 'ExternalName'",
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
    ],
  },
  {
    id: 'D7',
    title: 'Pods of the selector',
    broken: [
      {
        file: 'services/watcher/src/compose-changes.ts',
        search: 'for (const watched of indexer.podsOfService(key).values()) facts.push(podFact(indexer, watched));',
        replace: '',
        tests: ['services/watcher/src/compose-changes.test.ts'],
      },
    ],
  },
  {
    id: 'D8',
    title: 'publishNotReadyAddresses',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/desired-subsets.ts',
        search: 'return service.publishNotReadyAddresses || pod.ready;',
        replace: 'return pod.ready;',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
    ],
  },
  {
    id: 'D9',
    title: 'eligible Pods',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/desired-subsets.ts',
        search: 'shouldPodBeInEndpoints(pod, service.publishNotReadyAddresses)',
        replace: 'shouldPodBeInEndpoints(pod, false)',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpoints/desired-subsets.ts',
        search: 'shouldPodBeInEndpoints(pod, service.publishNotReadyAddresses)',
        replace: 'shouldPodBeInEndpoints(pod, true)',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
    ],
  },
  {
    id: 'D10',
    title: 'address family',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/desired-subsets.ts',
        search: "if (family !== undefined) return family === 'IPv6';",
        replace: '',
        tests: ['libs/controllers/src/endpoints/controller.test.ts', recorded('podToEndpointAddress')],
      },
      {
        file: 'libs/controllers/src/endpoints/desired-subsets.ts',
        search: 'headless ? pod.ip : service.clusterIP',
        replace: 'pod.ip',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
    ],
  },
  {
    id: 'D11',
    title: 'address',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/desired-subsets.ts',
        search: '{ ip, nodeName: pod.nodeName, targetRef }',
        replace: '{ ip, ...(pod.nodeName && { nodeName: pod.nodeName }), targetRef }',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpoints/desired-subsets.ts',
        search: 'name: pod.name, uid: pod.uid };',
        replace: 'name: pod.name };',
        tests: [recorded('podToEndpointAddress')],
      },
    ],
  },
  {
    id: 'D12',
    title: 'no ports',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/desired-subsets.ts',
        search: "service.ports.length === 0 && service.clusterIP === 'None'",
        replace: 'service.ports.length === 0',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpoints/desired-subsets.ts',
        search: 'if (headlessWithoutPorts) packer.add(address, null, noPort, ready);',
        replace: '',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
    ],
  },
  {
    id: 'D13',
    title: 'ports',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/desired-subsets.ts',
        search: '      ...(appProtocol !== null && { appProtocol }),\n',
        replace: '',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpoints/desired-subsets.ts',
        search: 'if (before !== undefined) return before;',
        replace: 'for (const other of known.values()) return other;',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
    ],
  },
  {
    id: 'D14',
    title: 'ready or not',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/desired-subsets.ts',
        search: 'packer.add(address, found.port, found.identity, ready)',
        replace: 'packer.add(address, found.port, found.identity, true)',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
    ],
  },
  {
    id: 'D15',
    title: 'repack',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/repack-subsets.ts',
        search: 'const key = readinessKey(one.readiness);',
        replace: 'const key = String(groups.size);',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
    ],
  },
  {
    id: 'D16',
    title: 'new object',
    differs: true,
    broken: [
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: '{ name: service.name, namespace: service.namespace }',
        replace: "{ name: service.name, namespace: '' }",
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
    ],
  },
  {
    id: 'D17',
    title: 'create or update',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: "{ verb: 'create', resource: 'endpoints'",
        replace: "{ verb: 'update', resource: 'endpoints'",
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
    ],
  },
  {
    id: 'D18',
    title: 'stale check',
    differs: true,
    broken: [
      {
        file: 'libs/service-state/src/apply-outcome.ts',
        search: 'for (const result of results) applyResult(state, inFlight, result, now, settings.policy);',
        replace: '',
        tests: ['libs/service-state/src/apply-outcome.test.ts'],
      },
    ],
  },
  {
    id: 'D19',
    title: 'no write if right',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: ' || (!isCanonical(subsets) && equalSubsets(repackSubsets(subsets), desired))',
        replace: '',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
    ],
  },
  {
    id: 'D20',
    title: 'labels right',
    differs: true,
    broken: [
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: 'if (labels[endpointsManagedByLabel] !== endpointController) return false;',
        replace: '',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search:
          'return equalStringMaps(withoutKeys(labels, [headlessLabel, endpointsManagedByLabel]), service.labels);',
        replace: 'return true;',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
    ],
  },
  {
    id: 'D21',
    title: 'capacity annotation right',
    differs: true,
    broken: [
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: 'return !Object.hasOwn(existing.metadata.annotations ?? {}, overCapacityAnnotation);',
        replace: 'return true;',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: 'if (policy.isNoOp(existing, updated)) return decision(emptyPlan);',
        replace: '',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
    ],
  },
  {
    id: 'D22',
    title: 'body',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: '    [endpointsManagedByLabel]: endpointController,\n',
        replace: '',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: "...(truncated && { [overCapacityAnnotation]: 'truncated' }),",
        replace: '',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: "    ...(!isServiceIpSet(service) && { [headlessLabel]: '' }),\n",
        replace: '',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
    ],
  },
  {
    id: 'D23',
    title: 'precondition',
    broken: [
      {
        file: 'libs/controllers/src/endpoints/controller.ts',
        search: 'metadata: { ...existing.metadata, labels:',
        replace: "metadata: { ...existing.metadata, resourceVersion: '', labels:",
        tests: ['libs/controllers/src/endpoints/controller.test.ts', 'libs/service-state/src/decide.test.ts'],
      },
    ],
  },
  {
    id: 'D24',
    title: 'failure',
    broken: [
      {
        file: 'libs/controllers/src/failure-events.ts',
        search: "reason: 'FailedToUpdateEndpoint',",
        replace: "reason: 'FailedToUpdateEndpoints',",
        tests: ['libs/controllers/src/failure-events.test.ts'],
      },
      {
        file: 'libs/controllers/src/failure-events.ts',
        search: "if (mutation.verb === 'delete') return null;",
        replace:
          "if (mutation.verb === 'delete') return endpointsFailure(service, { mutation: { verb: 'create', resource: 'endpoints', object: { metadata: { namespace, name } } }, message });",
        tests: ['libs/controllers/src/failure-events.test.ts'],
      },
    ],
  },
];
