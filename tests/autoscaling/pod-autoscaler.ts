/** The parts of a HorizontalPodAutoscaler that the simulation reads. */
export interface AutoscalerSpec {
  readonly minReplicas: number;
  readonly maxReplicas: number;
  /** `averageValue` of its one metric of Pods. */
  readonly averageValue: number;
  readonly scaleUpWindowSeconds: number;
  readonly scaleDownWindowSeconds: number;
}

/** Ratio to the target within which the number stays (--horizontal-pod-autoscaler-tolerance). */
const tolerance = 0.1;

/** The default policies: up by the larger of 100 % and 4 Pods in 15 s; down to the target at once. */
const defaultPolicies = { periodMs: 15_000, percent: 100, pods: 4 };

interface Decision {
  readonly at: number;
  readonly replicas: number;
}

/**
 * The algorithm of the horizontal Pod autoscaler in kube-controller-manager for one metric of Pods: ratio with tolerance,
 * Pods without a metric counted against the direction, stabilization windows, the default policies and the limits.
 */
export class PodAutoscaler {
  readonly #spec: AutoscalerSpec;
  #recommendations: Decision[] = [];
  #scaleUps: { readonly at: number; readonly added: number }[] = [];

  constructor(spec: AutoscalerSpec) {
    this.#spec = spec;
  }

  /** `values`: the metric of each Pod that has one. */
  decide(now: number, replicas: number, values: readonly number[]): number {
    const { minReplicas, maxReplicas, scaleUpWindowSeconds, scaleDownWindowSeconds } = this.#spec;
    const recommended = this.#recommend(replicas, values);
    this.#recommendations.push({ at: now, replicas: recommended });
    const within = (seconds: number) =>
      this.#recommendations.filter(({ at }) => at > now - seconds * 1000 || at === now).map((each) => each.replicas);
    // It moves only as far as all recommendations of the window agree.
    const up = Math.min(...within(scaleUpWindowSeconds));
    const down = Math.max(...within(scaleDownWindowSeconds));
    const stable = replicas < up ? up : Math.min(replicas, down);
    const oldest = now - 1000 * Math.max(scaleUpWindowSeconds, scaleDownWindowSeconds);
    this.#recommendations = this.#recommendations.filter(({ at }) => at > oldest);
    const decided = Math.min(maxReplicas, this.#scaleUpLimit(now, replicas), Math.max(minReplicas, stable));
    if (decided > replicas) this.#scaleUps.push({ at: now, added: decided - replicas });
    return decided;
  }

  #recommend(replicas: number, values: readonly number[]): number {
    if (values.length === 0) return replicas;
    const { averageValue } = this.#spec;
    const sum = values.reduce((total, value) => total + value, 0);
    const ratio = sum / values.length / averageValue;
    const missing = replicas - values.length;
    if (missing <= 0) return Math.abs(1 - ratio) <= tolerance ? replicas : Math.ceil(ratio * values.length);
    // Pods without a metric count as idle when it grows, and as on target when it shrinks.
    const assumed = ratio > 1 ? 0 : averageValue;
    const cautious = (sum + missing * assumed) / replicas / averageValue;
    if (Math.abs(1 - cautious) <= tolerance || (ratio > 1 && cautious < 1) || (ratio < 1 && cautious > 1))
      return replicas;
    const needed = Math.ceil(cautious * replicas);
    return (cautious > 1 && needed < replicas) || (cautious < 1 && needed > replicas) ? replicas : needed;
  }

  #scaleUpLimit(now: number, replicas: number): number {
    const { periodMs, percent, pods } = defaultPolicies;
    this.#scaleUps = this.#scaleUps.filter(({ at }) => at > now - periodMs);
    const before = replicas - this.#scaleUps.reduce((total, { added }) => total + added, 0);
    return Math.max(before + pods, Math.ceil(before * (1 + percent / 100)));
  }
}
