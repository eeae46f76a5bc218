export * from './bus-claim.ts';
export * from './dead-letter.ts';
export * from './infrastructure.ts';
export * from './open-infrastructure.ts';
export * from './retry-until-connected.ts';
export * from './role.ts';
export * from './role-health.ts';
export * from './start-lease-thread.ts';
