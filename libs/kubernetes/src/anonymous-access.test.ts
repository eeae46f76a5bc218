import { expect, test } from 'vitest';
import { anonymousAccess } from './anonymous-access.ts';

test('anonymous access sends no credentials to the address', async () => {
  const access = anonymousAccess('http://127.0.0.1:8001/', 'fake');
  expect(access).toMatchObject({ context: 'fake', server: 'http://127.0.0.1:8001', proxyUrl: undefined });
  expect(access.source).toContain('http://127.0.0.1:8001/');
  const options = {};
  await (await access.open()).applyToHTTPSOptions(options);
  expect(options).toEqual({});
});

test('a path of the address is kept', () => {
  expect(anonymousAccess('http://127.0.0.1/clusters/a', 'fake').server).toBe('http://127.0.0.1/clusters/a');
});
