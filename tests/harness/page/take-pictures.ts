import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChromium } from './chromium.ts';
import { openRecordingPage } from './opened-page.ts';
import { picturesOf } from './pictures.ts';
import { recordIncident } from './planted-incident.ts';
import { withTrace } from './traced-run.ts';

/** Takes the screenshots of the docs. Jaeger, which has the trace, is built first. */
const folder = join(import.meta.dirname, '../../../docs/images');
const directory = await mkdtemp(join(tmpdir(), 'sluice-pictures-'));
const browser = await startChromium();
try {
  await mkdir(folder, { recursive: true });
  const recording = join(directory, 'recording');
  await recordIncident(recording);
  const { url, stop } = await openRecordingPage(recording);
  for (const { name, path, shows } of await picturesOf(url)) await take(url + path, name, shows);
  await stop();
  await withTrace(directory, (of) => take(of, 'console-trace', '.span.writer'));
} finally {
  await browser.close();
  await rm(directory, { recursive: true, force: true });
}

async function take(url: string, name: string, shows: string): Promise<void> {
  const page = await browser.newPage({
    ...{ viewport: { width: 1400, height: 800 }, colorScheme: 'dark', timezoneId: 'UTC', locale: 'en-GB' },
  });
  await page.goto(url);
  await page.locator(shows).first().waitFor();
  await page.locator('.live', { hasText: /^(live|recorded)$/ }).waitFor();
  const file = join(folder, `${name}.png`);
  await page.screenshot({ path: file, animations: 'disabled' });
  await page.close();
  console.info(file);
}
