import { fields, inParentheses, list, text } from './fields-for-people.ts';

/** Taints that are described at most. */
const maxTaints = 5;

/**
 * What keeps Pods from running on a core/v1 Node, for people: `not ready (NodeStatusUnknown), unschedulable`. Empty if nothing does. Fields
 * for people never make a Node malformed: a wrong one is left out.
 */
export function projectNodeCondition(raw: unknown): string {
  const { spec, status } = fields(raw);
  const { unschedulable, taints } = fields(spec);
  const ready = list(fields(status).conditions).find(({ type }) => type === 'Ready');
  const evicting = list(taints).filter(({ effect }) => effect === 'NoExecute');
  return [
    ...(ready !== undefined && ready.status !== 'True' ? [`not ready${inParentheses(ready.reason)}`] : []),
    ...(unschedulable === true ? ['unschedulable'] : []),
    ...evicting.slice(0, maxTaints).map(({ key, effect }) => `taint ${text(key)}:${text(effect)}`),
  ].join(', ');
}
