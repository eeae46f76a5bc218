/** How long a lease lasts that is not renewed, and how often it is; in milliseconds. */
export interface LeaseTimes {
  readonly ttlMs: number;
  readonly heartbeatMs: number;
}

/** A crash is noticed within a second; three heartbeats may be missed. */
export const defaultLeaseTimes: LeaseTimes = { ttlMs: 900, heartbeatMs: 250 };
