import { type NodePlacement, type Pod, structurallyEqual } from '@sluice/model';

interface KnownPod {
  readonly pod: Pod;
  readonly node: NodePlacement | null;
}

/**
 * Whether a Pod differs only in what explains it to people: its details, or the condition of its Node. Upstream does not notice
 * such an update (C12), so it is no reason to decide.
 */
export function differsInExplanation(before: KnownPod, after: KnownPod): boolean {
  if (!isExplained(before) && !isExplained(after)) return false;
  const explanation = ({ pod, node }: KnownPod) => [pod.details ?? null, node?.condition ?? ''];
  return (
    !structurallyEqual(explanation(before), explanation(after)) &&
    structurallyEqual(withoutExplanation(before), withoutExplanation(after))
  );
}

const isExplained = ({ pod, node }: KnownPod): boolean => pod.details !== undefined || node?.condition !== undefined;

const withoutExplanation = ({ pod: { details: _, ...pod }, node }: KnownPod) => ({
  pod,
  zone: node === null ? null : node.zone,
});
