/** A separate entry, because a role starts the thread before it loads the rest of this package. */
export * from '../start-lease-thread.ts';
