/**
 * Checks the documentation: every relative link and anchor of every Markdown file resolves, every page under docs/ is
 * linked, every path in inline code exists, commands, metrics and messages exist, numbers agree with the code (values/), and no retired term (terms.json) is in a page, comment, test title, message or
 * help text.
 * Prints one finding per line and exits with status 1 if there is any.
 */
import { join } from 'node:path';
import { checkCommands, checkValueNames } from './check-commands.ts';
import { checkNames } from './check-names.ts';
import { checkValues } from './check-values.ts';
import { checkLinks, missingPaths, unlinkedPages } from './links.ts';
import { readNotes, readPages } from './markdown.ts';
import { checkSources } from './messages.ts';
import { checkPages } from './prose.ts';
import { rows, rowsOfOthers } from './values/index.ts';

const root = join(import.meta.dirname, '../..');
const pages = readPages(root);
const findings = [
  ...checkLinks(pages, root),
  ...unlinkedPages(pages),
  ...missingPaths(pages, root),
  ...checkCommands([...pages, readNotes(root)]),
  ...checkValueNames(pages),
  ...checkNames(pages),
  ...checkValues(pages, rows),
  ...checkValues(pages, rowsOfOthers, { all: false }),
  ...checkPages(pages),
  ...checkSources(root),
];
for (const { path, line, message } of findings) console.error(`${path}:${line} ${message}`);
process.exitCode = findings.length > 0 ? 1 : 0;
