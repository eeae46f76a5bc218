import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseControllers } from '@sluice/fleet/configuration';
import { parseCommandLine, runProgram } from '@sluice/program';
import { accountManifests, chartTable, rbacManifests } from './rbac.ts';

/**
 * `npm run rbac` writes the permissions of all controllers into the manifests and the chart; with `--controllers`, it writes
 * what these controllers need to the file `--output`.
 */
await runProgram(() => {
  const line = parseCommandLine({ options: { controllers: '*', output: undefined } }, process.argv.slice(2));
  if (line === 'help') return void process.stdout.write('usage: npm run rbac [-- --controllers=LIST --output=FILE]\n');
  const { controllers, output } = line.options;
  if (output !== undefined) return writeFileSync(output, rbacManifests(parseControllers(controllers)));
  const files = [
    ['rbac.yaml', rbacManifests()],
    ['controller-accounts.yaml', accountManifests()],
    ['../helm/files/permissions.yaml', chartTable()],
  ] as const;
  for (const [name, text] of files) writeFileSync(join(import.meta.dirname, name), text);
});
