/** Filter of the Services over all clusters. Empty: no restriction. */
export interface LogicalServiceFilter {
  readonly q: string;
  readonly namespace: string;
  readonly condition: string;
  /** Only Services with a condition at least as severe. */
  readonly severity: string;
  /** UID or name of a cluster that counts as lost. */
  readonly without: string;
}

export const noLogicalFilter: LogicalServiceFilter = { q: '', namespace: '', condition: '', severity: '', without: '' };
