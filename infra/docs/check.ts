/**
 * Checks the documentation: every relative link and anchor of every Markdown file resolves.
 * Prints one finding a line and exits with status 1 if there is any.
 */
import { join } from 'node:path';
import { checkLinks } from './links.ts';
import { readPages } from './markdown.ts';

const root = join(import.meta.dirname, '../..');
const findings = checkLinks(readPages(root), root);
for (const { path, line, message } of findings) console.error(`${path}:${line} ${message}`);
process.exitCode = findings.length > 0 ? 1 : 0;
