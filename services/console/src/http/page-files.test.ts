import { beforeAll, describe, expect, test } from 'vitest';
import { loadPage, type PageFile } from './page-files.ts';

let page: (path: string) => PageFile | undefined;
beforeAll(async () => {
  page = await loadPage();
});

describe('the page', () => {
  test.each(['/', '/fleet', '/services/prod/shop/web', '/traces/0af7'])('is shown at %s', (path) => {
    expect(page(path)).toMatchObject({
      type: 'text/html; charset=utf-8',
      body: expect.stringMatching(/^<!doctype html>/i),
    });
  });

  test.each(['/nonsense', '/fleet/x', '/services', '/x/services/', '/styles', '/../package.json', '/tsconfig.json'])(
    'has nothing at %s',
    (path) => {
      expect(page(path)).toBeUndefined();
    },
  );

  test.each([
    ['/styles/base.css', 'text/css; charset=utf-8'],
    ['/icon.svg', 'image/svg+xml'],
    ['/main.ts', 'text/javascript; charset=utf-8'],
    ['/packages/preact.js', 'text/javascript; charset=utf-8'],
  ])('has %s as %s', (path, type) => {
    expect(page(path)?.type).toBe(type);
  });

  test('has its modules without types, and imports packages by their paths', () => {
    const module = page('/views/adjacent-time.ts')?.body ?? '';
    expect(module).toContain('export function adjacentTime(');
    expect(module).not.toContain("HistoryView['entries']");
    expect(page('/use-loaded.ts')?.body).toContain("from '/packages/preact-hooks.js'");
    expect(page('/use-loaded.ts')?.body).toContain("from './api.ts'");
    expect(page('/html.ts')?.body).toContain("from '/packages/htm.js'");
    expect(page('/packages/preact-hooks.js')?.body).toMatch(/from\s*["']\/packages\/preact\.js["']/);
  });

  test('has no tests', () => {
    expect(page('/views/adjacent-time.test.ts')).toBeUndefined();
  });
});
