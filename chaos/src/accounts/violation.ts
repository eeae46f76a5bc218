/** Something that must never happen. */
export interface Violation {
  readonly what:
    | 'unaccounted write'
    | 'applied twice'
    | 'out of order'
    | 'needless slice'
    | 'wanted endpoint taken away'
    | 'lost change'
    | 'process failed';
  /** Service, object or process. */
  readonly where: string;
  /** For people: what was seen, and when. */
  readonly evidence: string;
}
