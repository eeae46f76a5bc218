import { chmod, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect as connectSocket } from 'node:net';
import path from 'node:path';
import { silentLogger } from '@sluice/platform';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiError, isApiError } from './api-error.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { loadKubeconfig } from './kubeconfig.ts';
import {
  clusterOver,
  connect,
  type Handler,
  json,
  kubeconfigText,
  noAbort,
  startServer,
  writeFiles,
} from './testing/fixtures.ts';

const testdata = (name: string) => path.join(import.meta.dirname, 'testdata', name);
const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(handler: Handler, tls?: Parameters<typeof startServer>[1]) {
  const server = await startServer(handler, tls);
  cleanups.push(server.close);
  return server;
}

async function connected(url: string, user: object = {}, options: Partial<ConnectionOptions> = {}) {
  const result = await connect(url, user, options);
  cleanups.push(result.close);
  return result;
}

const get = { method: 'GET', path: '/x', signal: noAbort } as const;

async function failure(promise: Promise<unknown>): Promise<ApiError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (isApiError(error)) return error;
  throw new Error(`expected an ApiError, got ${String(error)}`);
}

const unauthorized = { kind: 'Status', reason: 'Unauthorized', message: 'Unauthorized', code: 401 };

describe('Connection.request', () => {
  it('sends JSON below the server’s path, says who it is, and parses the answer', async () => {
    const server = await serve((_, response) => json(response, 201, { done: true }, { 'x-test': '1' }));
    const { connection } = await connected(`${server.url}/clusters/a/`, { token: 't' });
    const response = await connection.request({ ...get, method: 'POST', body: { a: 'ü' } });
    expect(response).toMatchObject({ status: 201, body: { done: true }, headers: { 'x-test': '1' } });
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      url: '/clusters/a/x',
      body: { a: 'ü' },
      headers: {
        'user-agent': 'sluice/test',
        authorization: 'Bearer t',
        accept: 'application/json',
        'content-type': 'application/json',
      },
    });
  });

  it('reuses its connections, and opens no more than allowed', async () => {
    const server = await serve((_, response) => json(response, 200, {}));
    const { connection } = await connected(server.url, {}, { maxConnections: 2 });
    for (let round = 0; round < 5; round++) {
      await Promise.all(Array.from({ length: 8 }, () => connection.request(get)));
    }
    expect(server.requests).toHaveLength(40);
    expect(server.connections()).toBeLessThanOrEqual(2);
  });

  it('checks a request that waited for a connection right before it is written, and keeps the connection', async () => {
    const held = Promise.withResolvers<void>();
    const server = await serve((request, response) => {
      const answer = () => json(response, 200, {});
      if (request.url === '/held') void held.promise.then(answer);
      else answer();
    });
    const { connection } = await connected(server.url, {}, { maxConnections: 1 });
    let mayWrite = true;
    const beforeSend = () => {
      if (!mayWrite) throw new ApiError('too late', { kind: 'retry', status: 503, reason: 'TooLate' });
    };
    const first = connection.request({ ...get, path: '/held', beforeSend });
    await expect.poll(() => server.requests.length).toBe(1);
    const waiting = failure(connection.request({ ...get, path: '/waiting', beforeSend }));
    mayWrite = false;
    held.resolve();
    expect(await first).toMatchObject({ status: 200 });
    expect(await waiting).toMatchObject({ reason: 'TooLate' });
    mayWrite = true;
    expect(await connection.request({ ...get, path: '/later', beforeSend })).toMatchObject({ status: 200 });
    expect(server.requests.map(({ url }) => url)).toEqual(['/held', '/later']);
    expect(server.connections()).toBe(1);
  });

  it('reports the message and Retry-After of the API server', async () => {
    const status = { kind: 'Status', reason: 'TooManyRequests', message: 'too many requests', code: 429 };
    const server = await serve((_, response) => json(response, 429, status, { 'retry-after': '3' }));
    const { connection } = await connected(server.url);
    const expected = { message: 'too many requests', kind: 'retry', status: 429, retryAfterMs: 3000 };
    expect(await failure(connection.request(get))).toMatchObject(expected);
  });

  it('does not take a web page for an answer', async () => {
    const server = await serve((_, response) => response.end('<html>log in</html>'));
    const { connection } = await connected(server.url);
    expect(await failure(connection.request(get))).toMatchObject({ reason: 'InvalidAnswer', kind: 'retry' });
  });

  it.each([200, 201, 500])('stops reading an endless response with status %i', async (status) => {
    let sent = 0;
    const closed = Promise.withResolvers<void>();
    const server = await serve((_, response) => {
      const chunk = Buffer.alloc(64 * 1024, ' ');
      response.writeHead(status);
      response.on('close', closed.resolve);
      const send = () => {
        while (!response.closed && response.write(chunk)) sent += chunk.length;
      };
      response.on('drain', send);
      send();
    });
    const { connection } = await connected(server.url);
    const error = await failure(connection.request({ ...get, maxResponseBytes: 1024 * 1024 }));
    expect(error.message).toContain(status < 300 ? 'larger than 1048576 bytes' : 'HTTP status 500');
    await closed.promise;
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  it('rejects a response nested too deep to be sent on', async () => {
    const server = await serve((_, response) => response.end('['.repeat(10_000) + ']'.repeat(10_000)));
    const { connection } = await connected(server.url);
    expect(await failure(connection.request(get))).toMatchObject({
      reason: 'InvalidAnswer',
      message: expect.stringContaining('nested deeper than 96 levels'),
    });
  });

  it('retries after a refused connection', async () => {
    const server = await startServer(() => {});
    await server.close();
    const { connection } = await connected(server.url);
    const error = await failure(connection.request(get));
    expect(error).toMatchObject({ kind: 'retry', status: 0, reason: 'ECONNREFUSED' });
    expect(error.message).toContain(`cannot reach ${server.url}: connection refused`);
  });

  it('retries after an answer that breaks off', async () => {
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"a":', () => response.destroy());
    });
    const { connection } = await connected(server.url);
    const error = await failure(connection.request(get));
    expect(error).toMatchObject({ kind: 'retry', status: 0 });
    expect(['CONNECTION_CLOSED', 'ECONNRESET']).toContain(error.reason);
  });

  it('ends at its time limit', async () => {
    let arrived = () => {};
    const asked = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const server = await serve(() => arrived());
    const { connection, clock } = await connected(server.url);
    const outcome = failure(connection.request({ ...get, timeoutMs: 5000 }));
    await asked;
    clock.step(clock.now() + 5000);
    const expected = { message: `no complete response from ${server.url} within 5 s`, reason: 'Timeout' };
    expect(await outcome).toMatchObject(expected);
    expect(clock.nextAt()).toBeUndefined();
  });

  it('after one that was never answered, sends the next on a new connection', async () => {
    let silent = false;
    const server = await serve((_, response) => {
      if (!silent) json(response, 200, {});
    });
    const { connection, clock } = await connected(server.url);
    // Two are kept alive.
    await Promise.all([connection.request(get), connection.request(get)]);
    expect(server.connections()).toBe(2);
    silent = true;
    const before = server.requests.length;
    const outcome = failure(connection.request({ ...get, timeoutMs: 1000 }));
    await expect.poll(() => server.requests.length).toBeGreaterThan(before);
    clock.step(clock.now() + 1000);
    expect(await outcome).toMatchObject({ reason: 'Timeout' });
    silent = false;
    await connection.request(get);
    expect(server.connections()).toBe(3);
  });

  it('ends when its caller gives up, also before it began', async () => {
    const abort = new AbortController();
    const server = await serve(() => abort.abort());
    const { connection } = await connected(server.url);
    expect(await failure(connection.request({ ...get, signal: abort.signal }))).toMatchObject({ reason: 'Aborted' });
    expect(await failure(connection.request({ ...get, signal: abort.signal }))).toMatchObject({ reason: 'Aborted' });
    expect(server.requests).toHaveLength(1);
  });
});

describe('Connection, after a 401,', () => {
  const onlyNew: Handler = ({ headers }, response) =>
    headers.authorization === 'Bearer new' ? json(response, 200, {}) : json(response, 401, unauthorized);

  it('reads a rotated token file and repeats, once for all who wait', async () => {
    let valid = 'Bearer old';
    const server = await serve(({ headers }, response) =>
      headers.authorization === valid ? json(response, 200, {}) : json(response, 401, unauthorized),
    );
    const files = await writeFiles({ token: 'old\n' });
    cleanups.push(files.remove);
    const { connection } = await connected(server.url, { tokenFile: files.file('token') });
    expect((await connection.request(get)).status).toBe(200);
    valid = 'Bearer new';
    await writeFile(files.file('token'), 'new\n');
    const answers = await Promise.all(Array.from({ length: 5 }, () => connection.request(get)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(server.requests.filter(({ headers }) => headers.authorization === 'Bearer new')).toHaveLength(5);
  });

  it('reads the kubeconfig again', async () => {
    const server = await serve(onlyNew);
    const { connection, files, clock } = await connected(server.url, { token: 'old' });
    expect(await failure(connection.request(get))).toMatchObject({ status: 401, kind: 'terminal' });
    await writeFile(files.file('config'), kubeconfigText({ server: server.url }, { token: 'new' }));
    // Not at once: a refused token must not start a plugin for each request.
    expect((await failure(connection.request(get))).status).toBe(401);
    clock.step(clock.now() + 10_000);
    expect((await connection.request(get)).status).toBe(200);
  });

  it('runs the exec plugin again', async () => {
    const server = await serve(onlyNew);
    const plugin = `#!/bin/sh
cd "$(dirname "$0")"
if [ -e ran ]; then token=new; else token=old; fi
touch ran
echo '{"kind":"ExecCredential","status":{"token":"'$token'"}}'
`;
    const files = await writeFiles({ plugin });
    cleanups.push(files.remove);
    await chmod(files.file('plugin'), 0o755);
    const { connection } = await connected(server.url, { exec: { command: files.file('plugin') } });
    expect((await connection.request(get)).status).toBe(200);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
  });

  it('keeps the old credential where none can be read, and says what the server said', async () => {
    let valid = 'Bearer old';
    const server = await serve(({ headers }, response) =>
      headers.authorization === valid ? json(response, 200, {}) : json(response, 401, unauthorized),
    );
    const { connection, files } = await connected(server.url, { token: 'old' });
    expect((await connection.request(get)).status).toBe(200);
    valid = '';
    await files.remove();
    expect(await failure(connection.request(get))).toMatchObject({ status: 401, message: 'Unauthorized' });
    valid = 'Bearer old';
    expect((await connection.request(get)).status).toBe(200);
  });
});

describe('Connection without a credential', () => {
  it.each([
    ['echo hunter2', 'the plugin did not print an ExecCredential'],
    ['echo please log in >&2; exit 1', 'please log in'],
  ])('tells why: %s', async (script, why) => {
    const server = await serve((_, response) => json(response, 200, {}));
    const { connection } = await connected(server.url, { exec: { command: '/bin/sh', args: ['-c', script] } });
    const error = await failure(connection.request(get));
    expect(error).toMatchObject({ reason: 'CredentialsUnavailable', kind: 'retry', status: 0 });
    expect(error.message).toContain(why);
    expect(error.message).not.toContain('hunter2');
    expect(server.requests).toHaveLength(0);
  });

  it('does not wait for a plugin for ever', async () => {
    const { connection, clock } = await connected('http://127.0.0.1:1', {
      exec: { command: '/bin/sh', args: ['-c', 'exec sleep 5'] },
    });
    const outcome = failure(connection.request({ ...get, timeoutMs: 120_000 }));
    // The plugin's limit is set once the kubeconfig is read.
    await expect.poll(() => clock.nextAt()).toBe(clock.now() + 60_000);
    clock.step(clock.now() + 60_000);
    expect((await outcome).message).toContain('the plugin returned no credential within 60 s');
  });
});

describe('Connection over TLS', () => {
  const pem = async (name: string) => readFile(testdata(name), 'utf8');
  const options = async () => ({
    cert: await pem('server.crt'),
    key: await pem('server.key'),
    ca: await pem('ca.crt'),
    requestCert: true,
    rejectUnauthorized: false,
  });

  async function over(cluster: object, user: object = {}) {
    const files = await writeFiles({ config: kubeconfigText(cluster, user) });
    cleanups.push(files.remove);
    const access = await loadKubeconfig({ paths: [files.file('config')] });
    const plain = await connected('http://127.0.0.1:1');
    const connection = new Connection({ access, userAgent: 'sluice/test', clock: plain.clock, logger: silentLogger });
    cleanups.push(() => connection.destroy());
    return Object.assign(connection, { clock: plain.clock, kubeconfig: files.file('config') });
  }

  it('reads the kubeconfig again after a failed handshake, because the authority may have been rotated', async () => {
    const server = await serve((_, response) => json(response, 200, {}), await options());
    const trusting = async (authority: string) => ({
      server: server.url,
      'certificate-authority-data': Buffer.from(await pem(authority)).toString('base64'),
    });
    const connection = await over(await trusting('client.crt'));
    expect(await failure(connection.request(get))).toMatchObject({ kind: 'terminal', status: 0 });
    await writeFile(connection.kubeconfig, kubeconfigText(await trusting('ca.crt')));
    connection.clock.step(connection.clock.now() + 10_000);
    expect((await connection.request(get)).status).toBe(200);
  });

  it('takes up a renewed client certificate on new connections', async () => {
    const server = await serve((_, response) => json(response, 200, {}), await options());
    const files = await writeFiles({ crt: await pem('client.crt'), key: await pem('client.key') });
    cleanups.push(files.remove);
    const user = { 'client-certificate': files.file('crt'), 'client-key': files.file('key') };
    const connection = await over({ server: server.url, 'certificate-authority': testdata('ca.crt') }, user);
    await connection.request(get);
    await writeFile(files.file('crt'), await pem('server.crt'));
    await writeFile(files.file('key'), await pem('server.key'));
    await connection.request(get);
    connection.clock.step(connection.clock.now() + 60_000);
    await connection.request(get);
    await connection.request(get);
    expect(server.requests.map(({ peer }) => peer)).toEqual([
      'test client',
      'test client',
      'test server',
      'test server',
    ]);
  });

  it('goes through the proxy of the cluster', async () => {
    const server = await serve((_, response) => json(response, 200, { through: 'proxy' }), await options());
    const tunnels: string[] = [];
    const proxy = createServer().on('connect', (request, socket) => {
      tunnels.push(request.url ?? '');
      const target = connectSocket(server.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        target.pipe(socket).pipe(target);
      });
      socket.on('error', () => target.destroy());
      target.on('error', () => socket.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => new Promise((resolve) => proxy.close(() => resolve())));
    const address = proxy.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const cluster = {
      server: 'https://localhost:6443',
      'certificate-authority': testdata('ca.crt'),
      'proxy-url': `http://127.0.0.1:${port}`,
    };
    const connection = await over(cluster);
    expect((await connection.request(get)).body).toEqual({ through: 'proxy' });
    expect(tunnels).toEqual(['localhost:6443']);
  });

  it('trusts the CA of the cluster and shows the certificate of the user', async () => {
    const server = await serve((_, response) => json(response, 200, {}), {
      ...(await options()),
      rejectUnauthorized: true,
    });
    const user = { 'client-certificate': testdata('client.crt'), 'client-key': testdata('client.key') };
    const connection = await over({ server: server.url, 'certificate-authority': testdata('ca.crt') }, user);
    expect((await connection.request(get)).status).toBe(200);
  });

  it('refuses a certificate from another CA, unless verification is disabled', async () => {
    const server = await serve((_, response) => json(response, 200, {}), await options());
    const error = await failure((await over({ server: server.url })).request(get));
    expect(error).toMatchObject({ kind: 'terminal', status: 0 });
    expect(error.message).toContain('correct certificate-authority of the cluster');
    const careless = await over({ server: server.url, 'insecure-skip-tls-verify': true });
    expect((await careless.request(get)).status).toBe(200);
  });

  it('refuses a certificate for another name, and accepts it under that name', async () => {
    const server = await serve((_, response) => json(response, 200, {}), await options());
    const cluster = { server: server.url, 'certificate-authority': testdata('ca.crt') };
    const error = await failure((await over({ ...cluster, 'tls-server-name': 'elsewhere' })).request(get));
    expect(error).toMatchObject({ kind: 'terminal', reason: 'ERR_TLS_CERT_ALTNAME_INVALID' });
    expect((await (await over({ ...cluster, 'tls-server-name': 'localhost' })).request(get)).status).toBe(200);
  });

  it('knows a server that wants a client certificate, and one that speaks no TLS', async () => {
    const strict = await serve(() => {}, { ...(await options()), rejectUnauthorized: true });
    const anonymous = await over({ server: strict.url, 'certificate-authority': testdata('ca.crt') });
    expect(await failure(anonymous.request(get))).toMatchObject({ status: 0 });
    const plain = await serve(() => {});
    const error = await failure((await over({ server: plain.url.replace('http:', 'https:') })).request(get));
    expect(error).toMatchObject({ kind: 'terminal' });
    expect(error.message).toContain('it does not speak TLS');
  });

  it.each([
    [{ 'certificate-authority-data': Buffer.from('hunter2').toString('base64') }, {}],
    [{}, { 'client-certificate': testdata('client.crt'), 'client-key': testdata('server.key') }],
    [
      {},
      { 'client-certificate': testdata('client.crt'), 'client-key-data': Buffer.from('hunter2').toString('base64') },
    ],
  ])('says that certificates cannot be used: %j %j', async (cluster, user) => {
    const connection = await over({ server: 'https://127.0.0.1:1', ...cluster }, user);
    const error = await failure(connection.request(get));
    expect(error).toMatchObject({ kind: 'terminal', reason: 'CredentialsUnavailable' });
    expect(error.message).not.toContain('hunter2');
  });
});

describe('Connection.stream', () => {
  it('gives bytes as they come, and breaks the connection off with the iteration', async () => {
    let closed = () => {};
    const gone = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const server = await serve((_, response) => {
      response.on('close', closed);
      response.write('one');
    });
    const { connection } = await connected(server.url);
    const { chunks } = await connection.stream({ ...get, idleMs: 1000 });
    for await (const chunk of chunks) {
      expect(chunk.toString()).toBe('one');
      break;
    }
    await gone;
  });

  it('takes silence for a dead connection, but not while nobody reads', async () => {
    const server = await serve((_, response) => response.write('one'));
    const { connection, clock } = await connected(server.url);
    const { chunks } = await connection.stream({ ...get, idleMs: 1000 });
    const iterator = chunks[Symbol.asyncIterator]();
    expect((await iterator.next()).value.toString()).toBe('one');
    expect(clock.nextAt()).toBeUndefined();
    const outcome = failure(iterator.next());
    clock.step(clock.now() + 1000);
    expect(await outcome).toMatchObject({ kind: 'retry', reason: 'Timeout' });
  });

  it('reports a cut connection', async () => {
    const server = await serve((_, response) => response.write('one', () => response.destroy()));
    const { connection } = await connected(server.url);
    const { chunks } = await connection.stream({ ...get, idleMs: 1000 });
    const read = async () => {
      for await (const chunk of chunks) expect(chunk.toString()).toBe('one');
    };
    expect(await failure(read())).toMatchObject({ kind: 'retry', status: 0 });
  });

  it('reports a rejection', async () => {
    const status = { kind: 'Status', reason: 'Expired', message: 'too old', code: 410 };
    const server = await serve((_, response) => json(response, 410, status));
    const { connection } = await connected(server.url);
    const error = await failure(connection.stream({ ...get, idleMs: 1000 }));
    expect(error).toMatchObject({ kind: 'gone', message: 'too old' });
  });

  it('needs no connection that requests need', async () => {
    const server = await serve(({ url }, response) => {
      if (url === '/x') json(response, 200, {});
      else response.write('one');
    });
    const { connection } = await connected(server.url, {}, { maxConnections: 1 });
    for (let i = 0; i < 3; i++) await connection.stream({ ...get, path: `/watch${i}`, idleMs: 1000 });
    expect((await connection.request(get)).status).toBe(200);
  });
});

describe('a connection that only reads', () => {
  const writing = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;

  it.each(writing)('does not send %s', async (method) => {
    const server = await serve((_, response) => json(response, 200, {}));
    const { connection } = await connected(server.url, {}, { readOnly: true });
    const error = await failure(connection.request({ ...get, method, body: {} }));
    expect(error).toMatchObject({ reason: 'ReadOnly', kind: 'terminal', status: 0 });
    await failure(connection.stream({ ...get, method, idleMs: 1_000 }));
    expect(server.requests).toEqual([]);
  });

  it('fails every write method of a cluster', async () => {
    const server = await serve((_, response) => json(response, 200, { items: [], metadata: { resourceVersion: '1' } }));
    const { connection, clock } = await connected(server.url, {}, { readOnly: true });
    const cluster = clusterOver(connection, clock);
    const object = { metadata: { name: 'x', namespace: 'y' } };
    const event = { metadata: { name: 'x', namespace: 'y' } } as never;
    const attempts = [
      cluster.create('endpoints', object, noAbort),
      cluster.update('endpoints', object, noAbort),
      cluster.delete('endpoints', 'y', 'x', {}, noAbort),
      cluster.createEvent(event, noAbort),
      cluster.patchEvent('y', 'x', {}, noAbort),
    ];
    for (const attempt of attempts) expect((await failure(attempt)).reason).toBe('ReadOnly');
    await cluster.list('pods', { limit: 1, continueToken: '' }, noAbort);
    expect(server.requests.map(({ method }) => method)).toEqual(['GET']);
  });
});

it('counts the time until the reader of a stream asks for more, and then waits for its turn', async () => {
  const counted: number[] = [];
  const turn = Promise.withResolvers<void>();
  const threadShare = {
    spend(ms: number) {
      counted.push(ms);
      return turn.promise;
    },
  };
  const server = await serve((_, response) => void response.write('a'));
  const { connection, clock } = await connected(server.url, {}, { threadShare });
  const stop = new AbortController();
  const stream = await connection.stream({ method: 'GET', path: '/w', signal: stop.signal, idleMs: 60_000 });
  const reader = stream.chunks[Symbol.asyncIterator]();
  expect((await reader.next()).value?.toString()).toBe('a');
  clock.skipTo(clock.now() + 7);
  const next = reader.next();
  await expect.poll(() => counted).toEqual([7]);
  // Nothing expires: the wait for its turn is no silence of the server.
  clock.step(clock.now() + 120_000);
  turn.resolve();
  clock.step(clock.now() + 59_000);
  stop.abort();
  await expect(next).rejects.toMatchObject({ reason: 'Aborted' });
});
