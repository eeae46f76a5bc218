/** In milliseconds since the Unix epoch. */
export interface RecordedPeriod {
  readonly from: number;
  readonly to: number;
}

export interface RecordedRange {
  /** In milliseconds since the Unix epoch. */
  readonly since: number;
  readonly until: number;
  /** Enough records: earlier ones are not needed, even if they are later than `since`. */
  readonly records: number;
}

/** A period, of the Services whose formatted keys match a LIKE pattern. */
export interface ServiceQuery extends RecordedPeriod {
  readonly keys: string;
}

export interface NodeQuery extends ServiceQuery {
  /** Only this one. */
  readonly node?: string | undefined;
  /** The last ones. */
  readonly limit: number;
}

export interface PropagationQuery extends ServiceQuery {
  readonly atLeastMs: number;
  /** Only those that continued at the end of the recording. */
  readonly isOpen: boolean;
  /** Only those whose start is known. */
  readonly isStartKnown: boolean;
  /** The longest first, or those that ended last. */
  readonly sort: 'longest' | 'latest';
  readonly limit: number;
}

/** As the LIKE pattern of a query, whose parts are names or `%`. */
export function matchesKeys(pattern: string, key: string): boolean {
  const parts = key.split('/');
  return pattern.split('/').every((part, i) => part === '%' || part === parts[i]);
}
