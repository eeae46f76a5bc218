import type { Controller } from '@sluice/model';
import { type Check, failed, ok, warning } from './check.ts';
import { type Access, type ClusterWork, permissions } from './permissions.ts';

const roles: Readonly<Record<ClusterWork, string>> = { watch: 'watcher', write: 'writer' };
const advice = 'run kubectl apply -f infra/kubernetes/rbac.yaml, or grant them another way';

export const permissionsOf = (work: ClusterWork): string => `permissions of the ${roles[work]}`;

/** Checks the permissions that a role requires and those that it can use optionally. */
export async function checkPermissions(
  about: string,
  work: ClusterWork,
  reviewAccess: (accesses: readonly Access[]) => Promise<readonly boolean[]>,
  userName?: () => Promise<string | undefined>,
  controllers?: ReadonlySet<Controller>,
): Promise<readonly Check[]> {
  const check = permissionsOf(work);
  const all = permissions(work, controllers);
  const answers = await reviewAccess(all.map(({ access }) => access));
  const denied = Map.groupBy(
    all.filter((_, i) => !answers[i]),
    ({ without }) => without,
  );
  const missing = (denied.get(undefined) ?? []).map(({ access }) => describeAccess(access));
  if (denied.size === 0) return [ok(about, check, `all ${all.length} granted`)];
  const limits = [...denied].flatMap(([without, those]) => {
    if (without === undefined) return [];
    const list = those.map(({ access }) => describeAccess(access)).join(', ');
    const report = those.some(({ refused }) => refused) ? failed : warning;
    return [report(about, check, `missing: ${list}; ${without}`, advice)];
  });
  if (missing.length === 0) return limits;
  const user = await userName?.();
  const lack = user === undefined ? 'missing' : `user ${user} lacks`;
  return [failed(about, check, `${lack}: ${missing.join(', ')}`, advice), ...limits];
}

/** For people: `create endpointslices.discovery.k8s.io`. */
export function describeAccess({ verb, group, resource, subresource, namespace, name }: Access): string {
  const what = [resource, subresource].filter((part) => part !== undefined).join('/');
  const where = namespace === undefined ? '' : ` in ${namespace}`;
  return `${verb} ${what}${group === '' ? '' : `.${group}`}${name === undefined ? '' : ` ${name}`}${where}`;
}
