import { type Logger, loggerOf } from '../index.ts';

/** Names of clusters by identity. Clusters may be added later. */
export type ClusterNames = Pick<ReadonlyMap<string, string>, 'get'>;

/** Fields whose value is the identity of a cluster, or contains it between slashes, commas or spaces. */
const fieldsWithClusters = ['cluster', 'key', 'service', 'group', 'reasons'] as const;

/** A logger that shows the names of clusters instead of their identities. */
export function nameClusters(logger: Logger, names: ClusterNames): Logger {
  return loggerOf((level, message, fields) => {
    const named = fieldsWithClusters.flatMap((field) => {
      const value = fields[field];
      return typeof value === 'string' ? [[field, withNames(value, names)] as const] : [];
    });
    logger[level](message, { ...fields, ...Object.fromEntries(named) });
  });
}

/** Replaces identities of clusters between slashes, commas or spaces by their names: `uid/shop/cart` becomes `west/shop/cart`. */
export const withNames = (text: string, names: ClusterNames): string =>
  text.replace(/[^/, ]+/g, (part) => names.get(part) ?? part);
