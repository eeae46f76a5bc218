/** Puts the program of this checkout together, where `bin/sluice` looks for it: `main.ts`. */
import { join } from 'node:path';
import { bundle } from './bundle.ts';

const root = join(import.meta.dirname, '..', '..');
await bundle({ entry: join(root, 'services/sluice/src/main.ts'), directory: join(root, '.cache/program') });
