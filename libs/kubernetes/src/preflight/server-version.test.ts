import { expect, test } from 'vitest';
import { connect, json, noAbort, startServer } from '../testing/fixtures.ts';
import { getServerVersion } from './server-version.ts';

async function versionOf(body: object) {
  const server = await startServer((_, response) => json(response, 200, body));
  const { connection, close } = await connect(server.url);
  try {
    return await getServerVersion(connection, noAbort);
  } finally {
    await close();
    await server.close();
  }
}

test('a minor version with a suffix is parsed', async () => {
  const version = await versionOf({ major: '1', minor: '36+', gitVersion: 'v1.36.3' });
  expect(version).toEqual({ gitVersion: 'v1.36.3', major: 1, minor: 36 });
});

test.each(['v1.36\u001b[2J', 'v1.36\nall clusters ok', 'x'.repeat(129)])(
  'the version %j is rejected',
  async (gitVersion) => {
    await expect(versionOf({ major: '1', minor: '36', gitVersion })).rejects.toThrow('is not a version');
  },
);

test('an answer without a version is rejected', async () => {
  await expect(versionOf({})).rejects.toThrow('/version has no gitVersion');
});
