import { type ResourceInfo, resources } from '../server/resources.ts';

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const groups = ['discovery.k8s.io', 'events.k8s.io', 'authorization.k8s.io'];

/** Responses of the version and discovery endpoints; undefined for other paths. */
export function discoveryDocument(path: string): unknown {
  switch (path) {
    case '/version':
      return { major: '1', minor: '37', gitVersion: 'v1.37.1+fake', platform: 'fake' };
    case '/api':
      return { kind: 'APIVersions', versions: ['v1'] };
    case '/api/v1':
      return resourceList(
        'v1',
        Object.values(resources)
          .filter((info) => info.group === '')
          .flatMap(describe),
      );
    case '/apis':
      return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(describeGroup) };
    case '/apis/discovery.k8s.io/v1':
      return resourceList('discovery.k8s.io/v1', describe(resources.endpointslices));
    case '/apis/events.k8s.io/v1':
      return resourceList('events.k8s.io/v1', describe(resources.events));
    case '/apis/authorization.k8s.io/v1':
      return resourceList('authorization.k8s.io/v1', [
        review('SelfSubjectAccessReview'),
        review('SelfSubjectRulesReview'),
      ]);
    default: {
      const group = groups.find((name) => path === `/apis/${name}`);
      return group === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(group) };
    }
  }
}

function review(kind: string) {
  const singularName = kind.toLowerCase();
  return { name: `${singularName}s`, singularName, namespaced: false, kind, verbs: ['create'] };
}

function describeGroup(name: string) {
  const version = { groupVersion: `${name}/v1`, version: 'v1' };
  return { name, versions: [version], preferredVersion: version };
}

function resourceList(groupVersion: string, list: readonly unknown[]) {
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: list };
}

function describe({ name, singular, namespaced, kind, shortNames, statusSubresource }: ResourceInfo) {
  const own = {
    name,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
  };
  if (!statusSubresource) return [own];
  return [own, { name: `${name}/status`, singularName: '', namespaced, kind, verbs: ['get', 'patch', 'update'] }];
}
