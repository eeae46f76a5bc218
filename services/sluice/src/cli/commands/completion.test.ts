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

/** What bash offers for the last of these words. */
function completed(...words: string[]): readonly string[] {
  const script = `${completionScript('bash', program)}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _sluice
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

describe('bash', () => {
  test('completes commands, subcommands and flags', () => {
    expect(completed('sluice', 'ex')).toEqual(['explain']);
    expect(completed('sluice', 'clusters', '')).toEqual(expect.arrayContaining(['list', 'show', 'accept']));
    expect(completed('sluice', 'explain', 'shop/cart', '--a')).toEqual(['--at']);
    expect(completed('sluice', 'parked', 'list', '--namesp')).toContain('--namespace');
  });
});

test('zsh uses the script of bash', () => {
  expect(completionScript('zsh', program)).toContain('bashcompinit\n_sluice() {');
});

test('fish gets a line for each command and flag', () => {
  const lines = completionScript('fish', program).split('\n');
  expect(lines).toContainEqual(expect.stringMatching(/-n '__fish_use_subcommand' -f -a explain -d '.+'/));
  expect(lines).toContainEqual(expect.stringMatching(/-n '__fish_seen_subcommand_from explain' -l at -d '.+'/));
});
