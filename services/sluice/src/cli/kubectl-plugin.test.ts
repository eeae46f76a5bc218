import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const plugin = join(import.meta.dirname, '../../../../bin/kubectl-sluice');
let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-plugin-'));
  mkdirSync(join(directory, 'my program'));
  cpSync(plugin, join(directory, 'my program/kubectl-sluice'));
  writeFileSync(join(directory, 'my program/sluice'), '#!/bin/sh\nprintf "%s\\n" "$@"\n');
  chmodSync(join(directory, 'my program/sluice'), 0o755);
  mkdirSync(join(directory, 'path'));
  // Krew links plugins into one directory of $PATH.
  symlinkSync('../my program/kubectl-sluice', join(directory, 'path/kubectl-sluice'));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('kubectl sluice passes its arguments to the program beside the plugin, also through a link', () => {
  const env = { PATH: `${join(directory, 'path')}:${process.env.PATH}` };
  const printed = execFileSync('kubectl-sluice', ['explain', 'shop/my cart', '--at', '5m ago'], { env });
  expect(printed.toString()).toBe('explain\nshop/my cart\n--at\n5m ago\n');
});

test('kubectl completes commands and Services of the plugin', () => {
  const bin = join(directory, 'my program');
  cpSync(join(import.meta.dirname, '../../../../bin/kubectl_complete-sluice'), join(bin, 'kubectl_complete-sluice'));
  const script = `#!/bin/sh
case "$1" in
  completion) printf '%s\\n' '_sluice() { COMPREPLY=($(compgen -W "$(sluice services)" -- "\${COMP_WORDS[COMP_CWORD]}")); }' 'complete -F _sluice sluice' ;;
  services) echo shop/cart shop/web ;;
esac
`;
  writeFileSync(join(bin, 'sluice'), script);
  const completed = (...words: string[]) => execFileSync(join(bin, 'kubectl_complete-sluice'), words).toString();
  expect(completed('explain', 'shop/c')).toBe('shop/cart\n:4\n');
  expect(completed('explain', 'none')).toBe(':4\n');
});
