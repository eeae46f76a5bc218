import type { Random } from '@sluice/runtime';

export const systemRandom: Random = { next: () => Math.random() };
