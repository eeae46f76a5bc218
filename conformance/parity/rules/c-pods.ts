import { type Rule, recorded } from '../rule.ts';

export const podRules: readonly Rule[] = [
  {
    id: 'C1',
    title: 'ready',
    broken: [
      {
        file: 'libs/model/src/projections/project-pod.ts',
        search: "ready.status === 'True'",
        replace: "ready.status !== 'False'",
        tests: ['libs/model/src/projections/projections.test.ts'],
      },
      {
        file: 'libs/model/src/projections/project-pod.ts',
        search: 'if (found !== null || stringAt',
        replace: 'if (stringAt',
        tests: ['libs/model/src/projections/projections.test.ts'],
      },
    ],
  },
  {
    id: 'C2',
    title: 'finished Pods',
    broken: [
      {
        file: 'libs/model/src/projections/project-pod.ts',
        search: "phase === 'Failed' || phase === 'Succeeded'",
        replace: "phase === 'Failed'",
        tests: ['libs/model/src/projections/projections.test.ts'],
      },
    ],
  },
  {
    id: 'C3',
    title: 'may be in endpoints',
    broken: [
      {
        file: 'libs/controllers/src/pods.ts',
        search: 'if (pod.terminal) return false;',
        replace: '',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
      {
        file: 'libs/controllers/src/pods.ts',
        search: 'return includeTerminating || !pod.terminating;',
        replace: 'return true;',
        tests: ['libs/controllers/src/endpoints/controller.test.ts'],
      },
    ],
  },
  {
    id: 'C4',
    title: 'hostname',
    broken: [
      {
        file: 'libs/controllers/src/pods.ts',
        search: 'pod.subdomain === service.name && ',
        replace: '',
        tests: [recorded('podToEndpoint'), recorded('podToEndpointAddress')],
      },
    ],
  },
  {
    id: 'C5',
    title: 'target port',
    broken: [
      {
        file: 'libs/controllers/src/pods.ts',
        search: ' && named.protocol === port.protocol',
        replace: '',
        tests: [recorded('podToEndpoint')],
      },
      {
        file: 'libs/model/src/projections/project-pod.ts',
        search: "=== 'Always'",
        replace: "=== 'OnFailure'",
        tests: ['libs/model/src/projections/projections.test.ts'],
      },
    ],
  },
  {
    id: 'C6',
    title: 'IPs in canonical form',
    broken: [
      {
        file: 'libs/model/src/network/ip-address.ts',
        search: 'hasLeadingZero(text) ? printIpv4(address) : text',
        replace: 'text',
        tests: ['libs/model/src/network/ip-address.test.ts', recorded('podToEndpoint')],
      },
      {
        file: 'libs/model/src/network/ip-address.ts',
        search: 'groups[5] === 0xffff && groups',
        replace: 'groups[5] === 0xfffe && groups',
        tests: ['libs/model/src/network/ip-address.test.ts'],
      },
    ],
  },
  {
    id: 'C7',
    title: 'invalid IPs',
    broken: [
      {
        file: 'libs/model/src/network/ip-address.ts',
        search: "{ family: 'IPv4', text: '<nil>' }",
        replace: "{ family: 'IPv6', text: '<nil>' }",
        tests: ['libs/model/src/network/ip-address.test.ts'],
      },
    ],
  },
  {
    id: 'C8',
    title: 'Pods to Services',
    broken: [
      {
        file: 'services/watcher/src/event-handler.ts',
        search: "for (const service of services) mark(namespace, service, { kind: 'pod', name });",
        replace: '',
        tests: ['services/watcher/src/event-handler.test.ts'],
      },
    ],
  },
  {
    id: 'C9',
    title: 'selector',
    broken: [
      {
        file: 'libs/controllers/src/trackers/service-selector-cache.ts',
        search: 'if (pairs.every(([key, value]) => labels[key] === value)) names.push(name);',
        replace: 'names.push(name);',
        tests: ['libs/controllers/src/trackers/service-selector-cache.test.ts'],
      },
      {
        file: 'libs/controllers/src/trackers/service-selector-cache.ts',
        search: 'if (selector === null) return;',
        replace: 'if (selector === null) selector = {};',
        tests: ['libs/controllers/src/trackers/service-selector-cache.test.ts'],
      },
    ],
  },
  {
    id: 'C10',
    title: 'tombstones',
    note: 'a new list finds what was deleted',
    broken: [
      {
        file: 'services/watcher/src/event-handler.ts',
        search: 'for (const name of missing) this.delete(resource, parseObjectName(name), observedAt);',
        replace: '',
        tests: ['services/watcher/src/cluster-watcher.test.ts'],
      },
    ],
  },
  {
    id: 'C11',
    title: 'projection of a Pod',
    note: 'no Pod queue; upstream’s projection serves tests',
    broken: [
      {
        file: 'conformance/replay/upstream/pod-change.ts',
        search: 'oldLabels: labelsChanged ? old.labels : null',
        replace: 'oldLabels: old.labels',
        tests: [recorded('podChanged')],
      },
    ],
  },
  {
    id: 'C12',
    title: 'what counts as a change',
    differs: true,
    broken: [
      {
        file: 'services/shadow/src/upstream-handlers.ts',
        search: 'if (old.terminating || now.terminating) return true;',
        replace: 'if (old.terminating !== now.terminating) return true;',
        tests: [recorded('podChanged')],
      },
    ],
  },
  {
    id: 'C13',
    title: 'Services of a Pod update',
    differs: true,
    broken: [
      {
        file: 'services/watcher/src/event-handler.ts',
        search: 'for (const watched of [oldObject, newObject]) {',
        replace: 'for (const watched of [newObject]) {',
        tests: ['services/watcher/src/event-handler.test.ts'],
      },
    ],
  },
  {
    id: 'C14',
    title: 'hostname alone',
    differs: true,
    broken: [
      {
        file: 'libs/model/src/projections/project-pod.ts',
        search: "hostname: stringAt(spec, 'hostname', 'spec.hostname')",
        replace: "hostname: ''",
        tests: ['services/watcher/src/cluster-watcher.test.ts'],
      },
    ],
  },
];
