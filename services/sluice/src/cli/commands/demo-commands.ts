import type { Demo } from '@sluice/demo';
import { defaultUrl } from './client-for.ts';

export type { Demo };

/** Lines to print at startup: what to try while a demo runs. `page`: the URL of its console, if it has one. */
export function demoCommands({ commands, kubectl }: Demo, page: string | undefined): readonly string[] {
  const address = page === defaultUrl ? '' : ` --console ${page}`;
  const asking = page === undefined ? [] : commands.map((command) => `bin/sluice ${command}${address}`);
  return ['', 'To try in another terminal:', ...[...asking, ...kubectl].map((command) => `  ${command}`)];
}
