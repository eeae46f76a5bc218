import type { Access } from './access.ts';
import { isApiError } from './api-error.ts';
import type { Connection } from './connection.ts';
import { asRecord } from './record.ts';

/** A rule of what a client may do; `*` stands for all. */
export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  /** A subresource as `pods/log`; all of one kind with a star for `pods`. */
  readonly resources: readonly string[];
  /** None: whatever the name. */
  readonly resourceNames: readonly string[];
}

/**
 * The review is of one namespace, and lists what holds there by bindings of that namespace and by those of the cluster. No
 * namespace can have this name, since it is no DNS label: for it holds what holds in all of them, and nothing else.
 */
const inEveryNamespace = 'every.namespace';

/**
 * What this client may do in every namespace and with what is in none. Empty if the API server does not tell all of it: an
 * authorizer that lists no rules may then forbid what another one's rules allow.
 */
export async function reviewRules(connection: Connection, signal: AbortSignal): Promise<readonly ResourceRule[]> {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews';
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectRulesReview',
    spec: { namespace: inEveryNamespace },
  };
  try {
    const { body } = await connection.request({ method: 'POST', path, body: review, signal });
    const { incomplete, resourceRules } = asRecord(asRecord(body).status);
    return incomplete === false && Array.isArray(resourceRules) ? resourceRules.flatMap(ruleOf) : [];
  } catch (error) {
    // An answer is only that this question is not to be asked here; a server that cannot be reached has none for others.
    if (isApiError(error) && error.status > 0) return [];
    throw error;
  }
}

/** Whether this rule alone allows it, by the way in which RBAC reads its rules. */
export function allows(rule: ResourceRule, { verb, group, resource, subresource, name }: Access): boolean {
  const resources =
    subresource === undefined ? [resource, '*'] : [`${resource}/${subresource}`, `*/${subresource}`, '*'];
  const has = (listed: readonly string[], ...any: readonly string[]) => any.some((one) => listed.includes(one));
  return (
    has(rule.verbs, verb, '*') &&
    has(rule.apiGroups, group, '*') &&
    has(rule.resources, ...resources) &&
    (rule.resourceNames.length === 0 || (name !== undefined && rule.resourceNames.includes(name)))
  );
}

/** None if it is not as it should be: what is left of a rule may allow more. */
function ruleOf(value: unknown): readonly ResourceRule[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [] } = asRecord(value);
  if (!isWords(verbs) || !isWords(apiGroups) || !isWords(resources) || !isWords(resourceNames)) return [];
  return [{ verbs, apiGroups, resources, resourceNames }];
}

function isWords(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string');
}
