export const version = '0.2.0';

/** Sluice's name in `managedFields`: the part of the user agent before the slash. */
export const fieldManager = 'sluice';

/** The User-Agent, which identifies Sluice and the role in audit logs, metrics and `managedFields` of API servers. */
export function userAgent(role?: string): string {
  const platform = `${process.platform}/${process.arch}`;
  return `${fieldManager}/${version} (${platform})${role === undefined ? '' : ` ${role}`}`;
}
