import { join } from 'node:path';

/** The program of a checkout of Sluice. */
export const programIn = (checkout: string): string => join(checkout, 'services', 'sluice', 'src', 'main.ts');
