/**
 * Begins a bundle: becomes its `main.js`. Node's own compile cache has of a file what is compiled when it is loaded, and
 * functions are compiled when they are called. Here the code of what was called is kept as well (ADR 0043).
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { constants, Script } from 'node:vm';

type Chunk = (exports: unknown, require: (id: string) => unknown, module: Module, file: string, folder: string) => void;

/** The file with which the program begins; it is put in when that is put together. */
declare const PROGRAM: string;

interface Module {
  exports: unknown;
}

const folder = import.meta.dirname;
const requireBuiltin = createRequire(import.meta.url);
const modules = new Map<string, Module>();
/** By the file in which their code is to be kept. */
const notKept = new Map<string, Script>();

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
  // V8 takes no code of another version or other flags. What is compiled for other flags would only change places with this.
  const codeFile = `${file}.${process.version}.code`;
  const cachedData = read(codeFile);
  // What was a module is strict. In one line, so that the lines are those of the file.
  const head = `(function (exports, require, module, __filename, __dirname) { 'use strict';`;
  const text = `${head}${readFileSync(file, 'utf8')}\n})`;
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  const script = new Script(text, { filename: file, importModuleDynamically, ...(cachedData && { cachedData }) });
  if (cachedData === undefined) notKept.set(codeFile, script);
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
  for (const [file, script] of notKept) {
    const part = `${file}.${process.pid}`;
    try {
      writeFileSync(part, script.createCachedData());
      renameSync(part, file);
    } catch {
      // Such as in a container whose file system is read-only: the next start compiles again.
      return;
    }
  }
});

load(PROGRAM);
