/** Builds the documentation as a website in infra/site/dist. Installs VitePress first if it is missing. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sidebar, siteFiles } from './pages.ts';
import { pagesFolder, siteFolder, startPage } from './paths.ts';

const root = join(import.meta.dirname, '../..');
const vitepress = join(import.meta.dirname, 'node_modules/vitepress/bin/vitepress.js');

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): void {
  const { status } = spawnSync(command, args, { cwd: import.meta.dirname, stdio: 'inherit', env });
  if (status !== 0) process.exit(status ?? 1);
}

function copy(path: string, to: string): void {
  mkdirSync(dirname(join(to, path)), { recursive: true });
  cpSync(join(root, path), join(to, path));
}

if (!existsSync(vitepress)) run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
for (const folder of [pagesFolder, siteFolder]) rmSync(folder, { recursive: true, force: true });
const { pages, files } = siteFiles(root);
for (const path of [...pages, ...files]) copy(path, pagesFolder);
run(process.execPath, [vitepress, 'build', '.'], {
  ...process.env,
  SLUICE_SITE_SIDEBAR: JSON.stringify(sidebar(root)),
});
for (const path of files) copy(path, siteFolder);
const redirect = `<meta charset="utf-8"><title>Sluice</title><meta http-equiv="refresh" content="0; url=${startPage}">`;
const link = `<main><h1>Sluice</h1><a href="${startPage}">Documentation</a></main>`;
writeFileSync(
  join(siteFolder, 'index.html'),
  `<!doctype html><html lang="en"><head>${redirect}</head><body>${link}</body></html>\n`,
);
