import { configurationSources } from '@sluice/fleet/configuration';
import { resolve } from '@sluice/fleet/configuration/testing';
import { silentLogger } from '@sluice/platform';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { openConsole } from './open-console.ts';
import { addRunOptions, type RunOptions } from './run-options.ts';

/** Whether a run with these flags keeps a history for the console. */
function keeps(...flags: readonly string[]): boolean {
  const command = addRunOptions(new Command('run')).exitOverride();
  command.parse(flags, { from: 'user' });
  const { configuration } = resolve({ flags: configurationSources(command, {}, () => {}).flags });
  return openConsole(() => [], { ...command.opts<RunOptions>(), configuration }, silentLogger) !== undefined;
}

test.each<[keeps: boolean, flags: string[]]>([
  [true, []],
  [true, ['--metrics-bind-address', '127.0.0.1:0']],
  [false, ['--metrics-bind-address', '0']],
  [false, ['--metrics-bind-address', ':0']],
  [false, ['--no-console']],
  [true, ['--console-bind-address', '127.0.0.1:0', '--metrics-bind-address', ':0']],
  [true, ['--console-bind-address', '127.0.0.1:0', '--metrics-bind-address', '0']],
  [false, ['--console-bind-address', '127.0.0.1:0', '--no-console']],
])('a history is kept, %s: sluice run %j', (expected, flags) => {
  expect(keeps(...flags)).toBe(expected);
});
