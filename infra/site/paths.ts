import { join } from 'node:path';

/** A group of pages in the sidebar. */
export interface Group {
  readonly text: string;
  readonly items: { text: string; link: string }[];
}

/** The pages from which the site is built: copies at their paths in the repository. */
export const pagesFolder = join(import.meta.dirname, '.cache/pages');
/** The website. */
export const siteFolder = join(import.meta.dirname, 'dist');
/** The page with which the site begins. */
export const startPage = 'docs/README.html';
export const cacheFolder = join(import.meta.dirname, '.cache/vitepress');
