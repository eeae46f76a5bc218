import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'rolldown';

const clientNode = '@kubernetes/client-node';
const stub = '\0client-node-generated-api';

/**
 * Bundles only the kubeconfig part of @kubernetes/client-node, which runs credential plugins (ADR 0007). Its index also loads
 * the generated API clients and the streaming clients, which make up four fifths of the chunk.
 *
 * The path `dist/config.js` is private to client-node. The bundle fails if an update moves it, and its test checks the size
 * of the chunk and runs a plugin.
 */
export function clientNodeKubeconfig(): Plugin {
  return {
    name: 'client-node-kubeconfig',
    resolveId: {
      filter: { id: /^@kubernetes\/client-node$|^\.\/gen\/index\.js$/ },
      async handler(source, importer) {
        if (source !== clientNode) return importer?.includes(clientNode) ? stub : null;
        const index = await this.resolve(source, importer, { skipSelf: true });
        const config = join(dirname(index?.id ?? ''), 'config.js');
        if (existsSync(config)) return config;
        throw new Error(
          `${clientNode} has no dist/config.js; adapt infra/bundle/client-node-kubeconfig.ts to this version`,
        );
      },
    },
    load: {
      filter: { id: /^\0client-node-generated-api$/ },
      // config.js uses both only in makeApiClient, which Sluice does not call.
      handler: () => `
        export class ServerConfiguration {}
        export function createConfiguration() { throw new Error('the bundle has no generated API clients'); }
      `,
    },
  };
}
