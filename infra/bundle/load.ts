/**
 * Becomes `main.js` of a bundle and loads its chunks with V8's code cache. Node's own compile cache holds only what is
 * compiled at load time; this one also holds the functions that were called (ADR 0001).
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { constants, Script } from 'node:vm';

type Chunk = (exports: unknown, require: (id: string) => unknown, module: Module, file: string, folder: string) => void;

/** File name of the program's entry chunk, defined by the bundler. */
declare const PROGRAM: string;

interface Module {
  exports: unknown;
}

const folder = import.meta.dirname;
const requireBuiltin = createRequire(import.meta.url);
const modules = new Map<string, Module>();
/** Scripts without usable code, by the file for their code. */
const uncached = new Map<string, Script>();

function require(id: string): unknown {
  return id.startsWith('./') ? load(id.slice('./'.length)) : requireBuiltin(id);
}

function load(name: string): unknown {
  const known = modules.get(name);
  if (known !== undefined) return known.exports;
  const module: Module = { exports: {} };
  modules.set(name, module);
  try {
    const chunk = compile(name).runInThisContext() as Chunk;
    chunk(module.exports, require, module, join(folder, name), folder);
  } catch (error) {
    modules.delete(name);
    throw error;
  }
  return module.exports;
}

function compile(name: string): Script {
  const file = join(folder, name);
  // V8 rejects code of another version or other flags.
  const codeFile = `${file}.${process.version}.code`;
  const cachedData = read(codeFile);
  // Modules are strict. On one line, so that line numbers match the file.
  const head = `(function (exports, require, module, __filename, __dirname) { 'use strict';`;
  const text = `${head}${readFileSync(file, 'latin1')}\n})`;
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  const script = new Script(text, { filename: file, importModuleDynamically, ...(cachedData && { cachedData }) });
  if (cachedData === undefined || script.cachedDataRejected) uncached.set(codeFile, script);
  return script;
}

function read(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

process.once('exit', () => {
  for (const [file, script] of uncached) {
    const part = `${file}.${process.pid}`;
    try {
      writeFileSync(part, script.createCachedData());
      renameSync(part, file);
    } catch {
      // E.g. a container with a read-only file system. The next start compiles again.
      return;
    }
  }
});

load(PROGRAM);
