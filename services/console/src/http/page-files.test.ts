import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadPage } from './page-files.ts';

describe('the page', () => {
  test('is shown at the paths of its views, and nowhere else', async () => {
    const page = await loadPage();
    for (const path of [
      '/',
      '/fleet',
      '/logical-services',
      '/logical-services/shop/web',
      '/recording/outages',
      '/services/prod/shop/web',
      '/traces/0af7',
    ]) {
      expect(page(path)?.type, path).toBe('text/html; charset=utf-8');
      expect(page(path)?.body, path).toMatch(/^<!doctype html>/i);
    }
    const others = [
      '/nonsense',
      '/fleet/x',
      '/logical-services-x',
      '/recording',
      '/services',
      '/x/services/',
      '/styles',
      '/../package.json',
      '/tsconfig.json',
    ];
    expect(others.filter((path) => page(path) !== undefined)).toEqual([]);
  });

  test('has its styles, its icon, its modules and the packages that they import', async () => {
    const page = await loadPage();
    const typeOf = (path: string) => page(path)?.type;
    expect(typeOf('/styles/base.css')).toBe('text/css; charset=utf-8');
    expect(page('/styles/base.css')?.body).toContain('{');
    expect(typeOf('/icon.svg')).toBe('image/svg+xml');
    for (const path of ['/main.ts', '/packages/preact.js', '/packages/preact-hooks.js', '/packages/htm.js'])
      expect(typeOf(path), path).toBe('text/javascript; charset=utf-8');
  });

  test('has its modules without types, and imports packages by their paths', async () => {
    const page = await loadPage();
    const module = page('/views/adjacent-time.ts')?.body ?? '';
    expect(module).toContain('export function adjacentTime(');
    expect(module).not.toContain("HistoryView['entries']");
    expect(page('/use-loaded.ts')?.body).toContain("from '/packages/preact-hooks.js'");
    expect(page('/use-loaded.ts')?.body).toContain("from './api.ts'");
    expect(page('/html.ts')?.body).toContain("from '/packages/htm.js'");
    expect(page('/packages/preact-hooks.js')?.body).toMatch(/from\s*["']\/packages\/preact\.js["']/);
  });

  test('has no tests', async () => {
    expect((await loadPage())('/views/adjacent-time.test.ts')).toBeUndefined();
  });
});

test('durations of the page read as those of the commands', () => {
  const code = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8').replaceAll(/\/\*\*.*\*\//g, '');
  const copied = code('../../../../libs/platform/src/human-duration.ts');
  expect(code('../../page/human-duration.ts')).toBe(copied);
});
