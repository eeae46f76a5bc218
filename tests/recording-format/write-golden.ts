import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { answersOf } from './answers.ts';
import { formatOf, goldenAnswers, goldenFile, recordingIn } from './format.ts';
import { recordShop } from './record-shop.ts';

/** Writes the golden files of the current version of the format. Those of a version never change. */
const directory = mkdtempSync(join(tmpdir(), 'sluice-golden-'));
try {
  await recordShop(join(directory, 'recording'));
  const recording = recordingIn(join(directory, 'recording'));
  const { version } = formatOf(recording);
  const file = goldenFile(version);
  if (existsSync(file)) throw new Error(`${file} exists; raise schemaVersion in libs/recording/src/schema.ts`);
  mkdirSync(dirname(file), { recursive: true });
  copyFileSync(recording, file);
  writeFileSync(goldenAnswers(version), `${JSON.stringify(await answersOf(file), null, 2)}\n`);
  console.info(dirname(file));
} finally {
  rmSync(directory, { recursive: true });
}
