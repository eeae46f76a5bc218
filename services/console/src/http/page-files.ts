import { readdir, readFile } from 'node:fs/promises';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface PageFile {
  readonly type: string;
  readonly body: string;
}

const folder = fileURLToPath(new URL('../../page/', import.meta.url));
const require = createRequire(import.meta.url);

/** Files of packages, by the module names that the page imports. */
const packages: Readonly<Record<string, string>> = {
  preact: 'preact/dist/preact.mjs',
  'preact/hooks': 'preact/hooks/dist/hooks.mjs',
  htm: 'htm/dist/htm.module.js',
};
const pathOfPackage = (name: string): string => `/packages/${name.replaceAll('/', '-')}.js`;

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.js': 'text/javascript; charset=utf-8',
};

/**
 * Loads the page's files into memory, by path. Types are stripped from its TypeScript modules, so the page needs no build.
 */
export async function loadPage(): Promise<(path: string) => PageFile | undefined> {
  const files = new Map<string, PageFile>();
  for (const name of await readdir(folder, { recursive: true })) {
    const extension = extname(name);
    const path = `/${name.replaceAll('\\', '/')}`;
    if (name.endsWith('.test.ts') || (extension !== '.ts' && types[extension] === undefined)) continue;
    const text = await readFile(join(folder, name), 'utf8');
    if (extension === '.ts') files.set(path, { type: types['.js'] ?? '', body: withPaths(stripTypeScriptTypes(text)) });
    else files.set(path, { type: types[extension] ?? '', body: text });
  }
  for (const [name, file] of Object.entries(packages)) {
    files.set(pathOfPackage(name), { type: types['.js'] ?? '', body: withPaths(await readFile(locate(file), 'utf8')) });
  }
  const index = files.get('/index.html');
  // Paths of the page's router.
  return (path) =>
    files.get(path) ??
    (/^\/($|fleet$|logical-services($|\/)|recording\/|services\/|traces\/)/.test(path) ? index : undefined);
}

/** Replaces module names by paths. An import map is not possible: the content security policy forbids inline scripts. */
function withPaths(source: string): string {
  return source.replaceAll(/\b(from\s*)(["'])([^"'./][^"']*)\2/g, (whole, from, quote, name) =>
    packages[name] === undefined ? whole : `${from}${quote}${pathOfPackage(name)}${quote}`,
  );
}

/** Path of a file of a package, which the package need not export. */
function locate(file: string): string {
  const name = file.slice(0, file.indexOf('/'));
  let directory = dirname(require.resolve(name));
  while (!directory.endsWith(join('node_modules', name))) directory = dirname(directory);
  return join(directory, file.slice(name.length + 1));
}
