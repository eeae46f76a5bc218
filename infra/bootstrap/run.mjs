/**
 * The door for a machine that has only Node, npm and git: `npm start` and `npm test` come through here.
 * Plain JavaScript without dependencies, because nothing is installed yet and any Node from 20 on may run it.
 *
 *   run.mjs setup              installs what is missing and puts the program together (quick when nothing is to do)
 *   run.mjs test [arguments]   installs likewise, then lint, types, arrows and unit tests; arguments go to vitest
 *   run.mjs integration [...]  installs likewise, then the integration tests on a genuine control plane
 *
 * `npm start` is `bin/sluice run`, which calls `setup` and then becomes Sluice, so that signals and the exit
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
  // Loaded only now: an older Node could stumble over their syntax before it had said why.
  const { setUp } = await import('./setup.mjs');
  if (command === 'setup') {
    await setUp();
    const { putTogether } = await import('./program.mjs');
    await putTogether();
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
