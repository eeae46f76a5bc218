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

/** What topology hints need to know about the Nodes of a cluster (F2). */
export interface NodeTopology {
  /** Share of each zone in the allocatable CPU, or null if the Nodes lack information. */
  readonly zoneRatios: ZoneShares | null;
  /**
   * Number of ready Nodes outside the control plane, per zone. Nodes without a zone are counted under the empty name.
   */
  readonly nodesByZone: ZoneCounts;
}

export type ZoneShares = Readonly<Record<string, number>>;
export type ZoneCounts = Readonly<Record<string, number>>;
