import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser } from 'playwright-core';

const require = createRequire(import.meta.url);

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary?: string }[];
}

/**
 * Violations that axe finds in a page (contrast, names, roles), one line each. Waits for an element that matches the selector
 * `shows`. `help`: also in the help.
 */
export async function accessibilityOf(
  browser: Browser,
  url: string,
  shows: string,
  colorScheme: 'dark' | 'light',
  help = false,
): Promise<readonly string[]> {
  // The content security policy of the page forbids other scripts, such as axe.
  const context = await browser.newContext({ colorScheme, bypassCSP: true, reducedMotion: 'reduce' });
  try {
    const page = await context.newPage();
    await page.goto(url);
    await page.locator(shows).first().waitFor();
    if (help) await page.getByRole('button', { name: 'keys and signs' }).click();
    await page.evaluate(await readFile(require.resolve('axe-core/axe.min.js'), 'utf8'));
    const violations = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
      return (await axe.run()).violations;
    });
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, failureSummary = '' }) => `${id} (${help}) ${target.join(' ')}: ${failureSummary}`),
    );
  } finally {
    await context.close();
  }
}
