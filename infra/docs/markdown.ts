import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A Markdown file of the repository, by its path from the root. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** What a check found wrong, and where. `line` starts at 1. */
export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

const ignored = new Set(['node_modules', '.cache', '.git', 'bench-results']);

/** Every Markdown file below `root`. */
export function readPages(root: string): Page[] {
  const paths = globSync('**/*.md', { cwd: root, exclude: (name) => ignored.has(name) });
  return paths.sort().map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

/** What Helm prints after an installation, as a page: its commands are indented by two columns. */
export function readNotes(root: string): Page {
  const path = 'infra/helm/templates/NOTES.txt';
  return { path, text: readFileSync(join(root, path), 'utf8').replaceAll(/^ {2}/gm, '    ') };
}

/** The lines of a page with everything inside code fences and indented blocks blank, so that line numbers stay. */
export function proseLines(text: string): string[] {
  let fence: string | undefined;
  let afterBlank = true;
  let indented = false;
  return text.split('\n').map((line) => {
    const [, mark] = /^\s*(```|~~~)/.exec(line) ?? [];
    if (mark !== undefined && (fence === undefined || fence === mark)) {
      fence = fence === undefined ? mark : undefined;
      return '';
    }
    if (fence !== undefined) return '';
    indented = /^ {4}/.test(line) && (afterBlank || indented);
    afterBlank = line.trim() === '';
    return indented ? '' : line;
  });
}

/** A line without its inline code. */
export function withoutCode(line: string): string {
  return line.replace(/(`+)(?:(?!\1).)*\1/g, (code) => ' '.repeat(code.length));
}
