/** Something that must never happen. */
export interface Violation {
  readonly what:
    | 'unplanned write'
    | 'crossed clusters'
    | 'applied twice'
    | 'out of order'
    | 'needless slice write'
    | 'endpoint wrongly removed'
    | 'lost change'
    | 'process failed';
  /** Service, object or process. */
  readonly where: string;
  /** What was observed, and when. */
  readonly evidence: string;
}
