/** What can be wrong with a Service, as its objects show it, or those of all clusters. */
export interface ReasonDescription {
  readonly severity: ProblemSeverity;
  /** Every rollout and every restart of a controller causes shorter ones, in milliseconds. */
  readonly afterMs: number;
}

/** critical: clients fail; warning: clients may fail; info: it costs resources, or may be intended. */
export type ProblemSeverity = 'critical' | 'warning' | 'info';

/** The runbook of problems explains each. */
export const problemReasons = {
  NoReadyEndpoints: { severity: 'critical', afterMs: 30_000 },
  // The default of progressDeadlineSeconds of a Deployment. No client was served before.
  NotStarted: { severity: 'critical', afterMs: 600_000 },
  // A standby kube-controller-manager takes over within 20 s.
  LateChange: { severity: 'critical', afterMs: 30_000 },
  NotServed: { severity: 'critical', afterMs: 30_000 },
  NoMatchingPods: { severity: 'warning', afterMs: 300_000 },
  UnresolvedPort: { severity: 'warning', afterMs: 30_000 },
  StaleMirror: { severity: 'warning', afterMs: 30_000 },
  DuplicateEndpoints: { severity: 'warning', afterMs: 30_000 },
  OrphanedSlices: { severity: 'warning', afterMs: 60_000 },
  CompetingManagers: { severity: 'warning', afterMs: 0 },
  Flapping: { severity: 'warning', afterMs: 0 },
  // Another cluster of a rollout is often next.
  ServedByOneCluster: { severity: 'warning', afterMs: 300_000 },
  SpecDiffers: { severity: 'warning', afterMs: 600_000 },
  LostCluster: { severity: 'warning', afterMs: 60_000 },
  ScaledToZero: { severity: 'info', afterMs: 300_000 },
  NoTopologyHints: { severity: 'info', afterMs: 300_000 },
  FragmentedSlices: { severity: 'info', afterMs: 600_000 },
} as const satisfies Readonly<Record<string, ReasonDescription>>;

export type ProblemReason = keyof typeof problemReasons;

/** Reasons for which a Service has no ready endpoint. */
export const outageReasons: readonly ProblemReason[] = [
  'NoReadyEndpoints',
  'NotStarted',
  'NoMatchingPods',
  'ScaledToZero',
];

/** Known only at the end of a recording, from its last minutes. */
export const repeatedReasons: readonly ProblemReason[] = ['CompetingManagers', 'Flapping'];

/** In the key of a problem: it is seen over all clusters, or is that of a whole cluster. */
export const allOf = '*';

/** Most severe first. */
export const problemSeverities: readonly ProblemSeverity[] = ['critical', 'warning', 'info'];
