export * from './backends.ts';
export * from './open-backends.ts';
export * from './start-lease-thread.ts';
