import type { LogFields, Logger } from '../index.ts';

/** Names of clusters by identity. Clusters may be added later. */
export type ClusterNames = Pick<ReadonlyMap<string, string>, 'get'>;

/** Fields whose value is the identity of a cluster, or contains it between slashes, commas or spaces. */
const fieldsWithClusters = ['cluster', 'key', 'service', 'group', 'reasons'] as const;

/** A logger that shows the names of clusters instead of their identities. */
export function nameClusters(logger: Logger, names: ClusterNames): Logger {
  const named = (fields: LogFields = {}): LogFields => {
    const replaced = fieldsWithClusters.flatMap((field) => {
      const value = fields[field];
      return typeof value === 'string' ? [[field, withNames(value, names)] as const] : [];
    });
    return { ...fields, ...Object.fromEntries(replaced) };
  };
  return {
    debug: (message, fields) => logger.debug(message, named(fields)),
    info: (message, fields) => logger.info(message, named(fields)),
    warn: (message, fields) => logger.warn(message, named(fields)),
    error: (message, fields) => logger.error(message, named(fields)),
    with: (fields) => nameClusters(logger.with(named(fields)), names),
  };
}

/** Replaces identities of clusters between slashes, commas or spaces by their names: `uid/shop/cart` becomes `west/shop/cart`. */
export const withNames = (text: string, names: ClusterNames): string =>
  text.replace(/[^/, ]+/g, (part) => names.get(part) ?? part);
