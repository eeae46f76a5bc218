/** By which logs, the API servers' audit and priority-and-fairness know this program. */
export const version = '0.1.0';
export const userAgent = `sluice/${version}`;
