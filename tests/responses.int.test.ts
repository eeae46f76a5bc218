import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startControlPlane } from '@sluice/local';
import { responsesContract } from './harness/responses-contract.ts';

responsesContract('real API server', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-answers-'));
  const controlPlane = await startControlPlane({ directory, name: 'answers', authorization: 'AlwaysAllow' });
  const { clusters, users } = JSON.parse(readFileSync(controlPlane.adminKubeconfig, 'utf8'));
  return {
    url: controlPlane.url,
    ca: Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64'),
    token: users[0].user.token,
    async stop() {
      await controlPlane.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
});
