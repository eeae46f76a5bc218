import { spawnSync } from 'node:child_process';
import { Command } from 'commander';
import { beforeEach, describe, expect, test } from 'vitest';
import { addCommands } from './all.ts';
import { completionScript } from './completion.ts';

let program: Command;

beforeEach(async () => {
  program = new Command('sluice');
  await addCommands(program, undefined);
});

/** What bash or zsh offers for the last of these words. zsh calls functions for bash while it emulates sh. */
function completed(shell: 'bash' | 'zsh', ...words: string[]): readonly string[] {
  const script = `${shell === 'zsh' ? 'compdef() { :; }' : ''}
${completionScript(shell, program)}
sluice() { [ "$*" = 'services -o name' ] && printf '%s\n' shop/cart shop/checkout; }
${shell === 'zsh' ? 'emulate sh' : ''}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _sluice
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const options = shell === 'zsh' ? ['-f'] : [];
  const { stdout, stderr } = spawnSync(shell, [...options, '-c', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  const offered = stdout.split('\n').filter((line) => line !== '');
  // zsh chooses those that begin with the word; compgen of bash has done so.
  return shell === 'zsh' ? offered.filter((line) => line.startsWith(words.at(-1) ?? '')) : offered;
}

const isInstalled = (shell: string) => spawnSync(shell, ['-c', ':']).status === 0;

describe.each(['bash', 'zsh'] as const)('%s', (shell) => {
  test.skipIf(!isInstalled(shell))('completes commands, subcommands and flags', () => {
    expect(completed(shell, 'sluice', 'ex')).toEqual(['explain']);
    expect(completed(shell, 'sluice', 'clusters', '')).toEqual(expect.arrayContaining(['list', 'show', 'accept']));
    expect(completed(shell, 'sluice', 'explain', 'shop/cart', '--at')).toEqual(['--at']);
    expect(completed(shell, 'sluice', 'parked', 'list', '--namesp')).toContain('--namespace');
  });

  test.skipIf(!isInstalled(shell))('completes names of Services that a console knows', () => {
    expect(completed(shell, 'sluice', 'explain', 'shop/c')).toEqual(['shop/cart', 'shop/checkout']);
    expect(completed(shell, 'sluice', 'doctor', 'shop/c')).toEqual([]);
  });
});

test('fish gets a line for each command and flag', () => {
  const lines = completionScript('fish', program).split('\n');
  expect(lines).toContainEqual(expect.stringMatching(/-n '__fish_use_subcommand' -f -a explain -d '.+'/));
  expect(lines).toContainEqual(expect.stringMatching(/from explain' -f -a '\(sluice services -o name .*\)'$/));
  expect(lines).toContainEqual(expect.stringMatching(/-n '__fish_seen_subcommand_from explain' -l at -d '.+'/));
});
