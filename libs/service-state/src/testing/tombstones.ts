/** For suites that compare them with a model. */
export { isDeleted, type Tombstone, withTombstone } from '../tombstones.ts';
