import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exitStatus, exitStatusMeanings, print, UsageError, version } from '@sluice/process';
import { Command } from 'commander';
import { manPages } from '../man-page.ts';

/** `addAll` adds all commands to a program. */
export function addManCommand(program: Command, addAll: (program: Command) => Promise<void>): void {
  program
    .command('man [command...]')
    .summary('print the manual page of a command')
    .description('Prints the manual page of a command: sluice man run | man -l -')
    .option('--directory <path>', 'write the pages of all commands to this directory instead')
    .action(async (words: readonly string[], { directory }: { readonly directory?: string }) => {
      const all = new Command('sluice').description(program.description());
      await addAll(all);
      const pages = manPages(all, { version, sections: { 'EXIT STATUS': exitStatusText() } });
      if (directory !== undefined) {
        mkdirSync(directory, { recursive: true });
        for (const { name, text } of pages) writeFileSync(join(directory, `${name}.1`), text);
        return;
      }
      const wanted = ['sluice', ...words].join('-');
      const page = pages.find(({ name }) => name === wanted);
      if (page === undefined) throw new UsageError(`no command "${words.join(' ')}"; run "sluice --help"`);
      print(process.stdout, page.text);
    });
}

function exitStatusText(): string {
  const names = Object.keys(exitStatus) as (keyof typeof exitStatus)[];
  return names.map((name) => ` ${exitStatus[name]}: ${exitStatusMeanings[name].replaceAll('`', '')}`).join('\n');
}
