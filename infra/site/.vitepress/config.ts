import { defineConfig } from 'vitepress';
import { cacheFolder, type Group, pagesFolder, siteFolder, startPage } from '../paths.ts';

const sidebar: Group[] = JSON.parse(process.env.SLUICE_SITE_SIDEBAR ?? '[]');

/** The pages of the repository, at their paths. A dead link fails the build. */
export default defineConfig({
  title: 'Sluice',
  description: 'Endpoints and EndpointSlices for Kubernetes, computed by event-sourced services over a message bus',
  lang: 'en',
  srcDir: pagesFolder,
  outDir: siteFolder,
  cacheDir: cacheFolder,
  metaChunk: true,
  // The label of the button for the search does not name these keys.
  head: [['style', {}, '.DocSearch-Button-Keys { display: none !important; }']],
  markdown: {
    languageAlias: { conf: 'ini' },
    config(md) {
      // An empty header cell names nothing, which screen readers would announce as a header.
      const { rules } = md.renderer;
      rules.th_open = (tokens, index, options, _, self) =>
        tokens[index + 1]?.content === '' ? '<td>' : self.renderToken(tokens, index, options);
      rules.th_close = (tokens, index, options, _, self) =>
        tokens[index - 1]?.content === '' ? '</td>' : self.renderToken(tokens, index, options);
    },
  },
  themeConfig: {
    logoLink: `/${startPage}`,
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar,
  },
  vite: { logLevel: 'warn' },
});
