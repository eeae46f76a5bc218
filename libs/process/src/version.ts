export const version = '0.1.0';

/** What it is called in `managedFields`: its user agent up to the slash. */
export const fieldManager = 'sluice';

/**
 * By which audit logs, metrics and `managedFields` of API servers know this program, and which of its roles it is. Up to
 * the slash it is the field manager.
 */
export function userAgent(role?: string): string {
  const platform = `${process.platform}/${process.arch}`;
  return `${fieldManager}/${version} (${platform})${role === undefined ? '' : ` ${role}`}`;
}
