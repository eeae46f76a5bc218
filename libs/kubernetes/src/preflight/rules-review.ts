import { asRecord } from '@sluice/platform';
import { type ApiClient, isApiError } from '../index.ts';
import type { Access } from './permissions.ts';

/** A ResourceRule of a SelfSubjectRulesReview; `*` matches everything. */
export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  /** Subresources are written `pods/log`, or with `*` for all of their resources. */
  readonly resources: readonly string[];
  /** Empty: any name. */
  readonly resourceNames: readonly string[];
}

/**
 * A review covers one namespace: its RoleBindings and the ClusterRoleBindings. No namespace can have this name, which is
 * not a DNS label, so the review returns exactly the rules that hold cluster-wide.
 */
const noNamespace = 'every.namespace';

/**
 * Returns the rules that apply to this client in every namespace and to cluster-scoped objects. Empty if the API server
 * reports them as incomplete, because an authorizer without rules may deny what the rules of another allow.
 */
export async function reviewRules(connection: ApiClient, signal: AbortSignal): Promise<readonly ResourceRule[]> {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews';
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectRulesReview',
    spec: { namespace: noNamespace },
  };
  try {
    const { body } = await connection.request({ method: 'POST', path, body: review, signal });
    const { incomplete, resourceRules } = asRecord(asRecord(body).status);
    return incomplete === false && Array.isArray(resourceRules) ? resourceRules.flatMap(ruleOf) : [];
  } catch (error) {
    // A refused review only means that this API is not available here; an unreachable server is an error.
    if (isApiError(error) && error.status > 0) return [];
    throw error;
  }
}

/** Whether this rule alone allows the access, by the semantics of RBAC. */
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

/** Drops a malformed rule: the part that parses could allow more than the rule does. */
function ruleOf(value: unknown): readonly ResourceRule[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [] } = asRecord(value);
  if (!isStrings(verbs) || !isStrings(apiGroups) || !isStrings(resources) || !isStrings(resourceNames)) return [];
  return [{ verbs, apiGroups, resources, resourceNames }];
}

function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
