import { equalStringMaps, type Pod, type StringMap } from '@sluice/model';
import { podDiffers } from '@sluice/shadow';

/** A Pod with its labels. Null labels differ from empty ones (C12). */
export interface LabelledPod {
  readonly pod: Pod;
  readonly resourceVersion: string;
  readonly labels: StringMap | null;
}

interface PodChange {
  /** Deletion, readiness or IPs differ. */
  readonly podChanged: boolean;
  /** Labels, hostname or subdomain differ. */
  readonly labelsChanged: boolean;
}

/** Compares what upstream compares to decide whether a Pod update concerns its Services (C12). */
export function podChange(old: LabelledPod, now: LabelledPod): PodChange {
  return { podChanged: podDiffers(old.pod, now.pod), labelsChanged: labelsDiffer(old, now) };
}

/** What upstream keeps of a Pod update until it looks up the Services (C11). */
interface PodProjectionKey {
  readonly namespace: string;
  readonly labels: StringMap | null;
  /** Set only if the labels changed, as is `podChanged`. */
  readonly oldLabels: StringMap | null;
  readonly podChanged: boolean;
}

/** Returns null if the update concerns no Service or is a resync with the same resourceVersion (C12). */
export function podProjectionKey(old: LabelledPod, now: LabelledPod): PodProjectionKey | null {
  if (old.resourceVersion === now.resourceVersion) return null;
  const { podChanged, labelsChanged } = podChange(old, now);
  if (!podChanged && !labelsChanged) return null;
  return {
    namespace: now.pod.namespace,
    labels: now.labels,
    oldLabels: labelsChanged ? old.labels : null,
    podChanged: labelsChanged && podChanged,
  };
}

function labelsDiffer(old: LabelledPod, now: LabelledPod): boolean {
  if ((old.labels === null) !== (now.labels === null)) return true;
  if (!equalStringMaps(old.labels ?? {}, now.labels ?? {})) return true;
  return old.pod.hostname !== now.pod.hostname || old.pod.subdomain !== now.pod.subdomain;
}
