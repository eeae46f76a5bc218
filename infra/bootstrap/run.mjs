/**
 * Entry point of `npm start` and `npm test`, which need only Node, npm and git.
 * Plain JavaScript without dependencies, because it runs before anything is installed, on any Node from version 20.
 *
 *   run.mjs setup              installs the packages and builds the bundle, unless both are up to date
 *   run.mjs test [arguments]   installs, then runs lint, types, imports, docs and unit tests; arguments go to vitest
 *   run.mjs integration [...]  installs, then runs the integration tests on a real control plane
 *
 * `npm start` is `bin/sluice run`, which calls `setup` and then replaces itself with Sluice, so that signals and the exit
 * status are Sluice's own.
 */

const OLDEST_NODE = 20;
const [command, ...rest] = process.argv.slice(2);

async function main() {
  if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
    throw new Error(
      `Sluice needs Node ${OLDEST_NODE} or newer to set itself up; this is Node ${process.versions.node} ` +
        `(${process.execPath}).\nInstall a newer one (https://nodejs.org) and try again.`,
    );
  }
  // Imported after the version check, because an older Node may fail to parse it.
  const { setUp } = await import('./setup.mjs');
  if (command === 'setup') {
    await setUp();
    const { buildBundle } = await import('./program.mjs');
    await buildBundle();
    return 0;
  }
  if (command === 'test' || command === 'integration') {
    await setUp();
    const { runIntegration, runTests } = await import('./checks.mjs');
    return command === 'test' ? runTests(rest) : runIntegration(rest);
  }
  throw new Error(`usage: run.mjs setup | test | integration [arguments]${command ? `; not "${command}"` : ''}`);
}

main().then(
  (status) => {
    process.exitCode = status;
  },
  (error) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
  },
);
