/** A recorded span, for people. Times are in milliseconds since the Unix epoch, with fractions. */
export interface EndedSpan {
  readonly id: string;
  /** Null for the root span of a trace. */
  readonly parent: string | null;
  /** OpenTelemetry's service name. */
  readonly service: string;
  readonly name: string;
  readonly startedAt: number;
  readonly durationMs: number;
  /** Null: it has not failed. */
  readonly error: string | null;
  readonly attributes: readonly { readonly name: string; readonly value: string }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
}
