/** The part of a core/v1 Node that the controllers need: its zone and the inputs of the topology ratios (F2). */
export interface Node {
  readonly name: string;
  /** Label `topology.kubernetes.io/zone`, or empty. */
  readonly zone: string;
  readonly ready: boolean;
  /** Has a `control-plane` or `master` role label and is therefore excluded from topology hints. */
  readonly controlPlane: boolean;
  /** Allocatable CPU in millicores, rounded up (L6). */
  readonly allocatableMilliCpu: number;
}
