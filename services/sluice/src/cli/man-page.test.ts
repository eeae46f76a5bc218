import { spawnSync } from 'node:child_process';
import { Command } from 'commander';
import { beforeAll, describe, expect, test } from 'vitest';
import { addCommands } from './commands/all.ts';
import { type ManPage, manPages } from './man-page.ts';

let program: Command;
let pages: readonly ManPage[];

beforeAll(async () => {
  program = new Command('sluice').description('Endpoints for Kubernetes.');
  await addCommands(program, undefined);
  pages = manPages(program, { version: '1.2.3', sections: { 'EXIT STATUS': ' 0: success\n 2: usage' } });
});

const textOf = (name: string): string => pages.find((page) => page.name === name)?.text ?? '';

const hasGroff = spawnSync('groff', ['--version']).status === 0;

describe('a manual page', () => {
  test('exists for each command and subcommand', () => {
    const names = pages.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['sluice', 'sluice-run', 'sluice-parked', 'sluice-parked-list']));
    expect(new Set(names).size).toBe(names.length);
  });

  test('has every flag of --help', () => {
    for (const command of program.commands) {
      const text = textOf(`sluice-${command.name()}`);
      for (const { flags } of command.options) expect(text).toContain(`.B ${flags.replaceAll('-', '\\-')}\n`);
    }
  });

  test('names its program, its version, its exit statuses and its relatives', () => {
    const text = textOf('sluice-parked');
    expect(text).toMatch(/^\.TH "SLUICE\\-PARKED" 1 "" "sluice 1\.2\.3" "Sluice"\n\.SH NAME\n/);
    expect(text).toContain('.SH EXIT STATUS\n.br\n0: success\n.br\n2: usage\n');
    expect(text).toContain('.BR sluice (1) ,\n.BR sluice\\-parked\\-list (1)');
  });

  test('prints dots, quotes and backslashes as they are', () => {
    const one = new Command('x').description('.ends \\ with "this"').option('--a <b>', "'quoted'");
    const [page] = manPages(one, { version: '1' });
    expect(page?.text).toContain('.SH DESCRIPTION\n\\&.ends \\e with "this"\n');
    expect(page?.text).toContain("\n\\&'quoted'\n");
  });

  test.runIf(hasGroff)('is valid roff', () => {
    for (const { name, text } of pages) {
      const { stdout, stderr } = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-P-cbou'], {
        input: text,
        encoding: 'utf8',
      });
      expect(stderr, name).toBe('');
      expect(stdout).toContain('DESCRIPTION');
    }
  });
});
