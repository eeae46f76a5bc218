/** What the controllers need of a core/v1 Node: its zone, and what F2 asks for the topology ratios. */
export interface Node {
  readonly name: string;
  /** Label `topology.kubernetes.io/zone`; empty if there is none. */
  readonly zone: string;
  readonly ready: boolean;
  /** Carries one of the role labels `control-plane` or `master`, and so takes no part in topology hints. */
  readonly controlPlane: boolean;
  /** Allocatable CPU in milli-units, rounded up (L6). */
  readonly allocatableMilliCpu: number;
}
