import { type NodePlacement, type Pod, structurallyEqual } from '@sluice/model';

interface KnownPod {
  readonly pod: Pod;
  readonly node: NodePlacement | null;
}

/**
 * Whether a Pod differs only in what explains it to people: the reason why it is not ready, its details, or the condition of its
 * Node. Upstream does not notice such an update (C12), so it is no reason to decide.
 */
export function differsInExplanation(before: KnownPod, after: KnownPod): boolean {
  // Most updates are of readiness, and most Pods have nothing to explain.
  if (before.pod.ready !== after.pod.ready || !(isExplained(before) || isExplained(after))) return false;
  return (
    !structurallyEqual(explanation(before), explanation(after)) &&
    structurallyEqual(withoutExplanation(before), withoutExplanation(after))
  );
}

const isExplained = ({ pod, node }: KnownPod): boolean =>
  pod.unready !== undefined || pod.details !== undefined || node?.condition !== undefined;

const explanation = ({ pod, node }: KnownPod) => [pod.unready ?? null, pod.details ?? null, node?.condition ?? ''];

const withoutExplanation = ({ pod: { unready: _, details: __, ...pod }, node }: KnownPod) => ({
  pod,
  zone: node === null ? null : node.zone,
});
