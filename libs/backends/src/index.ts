export * from './backends.ts';
export * from './open-backends.ts';
