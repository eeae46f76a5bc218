import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { rounded } from './statistics.ts';

/** Readable JSON. Lists without objects, such as histograms, take one line. */
export function resultsJson(results: object): string {
  const lines = JSON.stringify(results, rounded, 1);
  return `${lines.replace(/\[[^[\]{}]*\]/g, oneLine).replace(/\[\s*(?:\[[^[\]{}]*\],?\s*)+\]/g, oneLine)}\n`;
}

export function writeResults(file: string, results: object): void {
  mkdirSync(dirname(resolve(file)), { recursive: true });
  writeFileSync(file, resultsJson(results));
}

const oneLine = (list: string): string => list.replace(/\n */g, '');
