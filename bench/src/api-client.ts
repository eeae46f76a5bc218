import { readFileSync } from 'node:fs';
import { Agent, type RequestOptions, request } from 'node:https';

export interface Answer {
  readonly body: string;
  /** Time of the first response byte, on the clock of `performance.now()`. */
  readonly answeredAt: number;
}

/** Keeps connections alive, as a kubelet does. */
const CONNECTIONS = 64;

/** A minimal client for load and measurement. It shares no code with Sluice, so that Sluice does not measure itself. */
export class ApiClient {
  readonly #agent: Agent;
  readonly #options: RequestOptions;

  /** Reads a kubeconfig of `@sluice/local`: JSON with one cluster and one token. */
  constructor(kubeconfig: string) {
    const { clusters, users } = JSON.parse(readFileSync(kubeconfig, 'utf8'));
    const { server, 'certificate-authority-data': authority } = clusters[0].cluster;
    const { hostname, port } = new URL(server);
    this.#options = {
      hostname,
      port,
      ca: Buffer.from(authority, 'base64'),
      headers: { authorization: `Bearer ${users[0].user.token}`, 'user-agent': 'sluice-bench' },
    };
    this.#agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, scheduling: 'lifo' });
  }

  get(path: string): Promise<Answer> {
    return this.#send('GET', path);
  }

  post(path: string, body: object): Promise<Answer> {
    return this.#send('POST', path, body);
  }

  put(path: string, body: object): Promise<Answer> {
    return this.#send('PUT', path, body);
  }

  delete(path: string): Promise<Answer> {
    return this.#send('DELETE', path);
  }

  /** Calls `onChunk` for every chunk of a streaming response until `signal` aborts; `onEnd` if the stream ends before that. */
  stream(path: string, signal: AbortSignal, onChunk: (chunk: Buffer) => void, onEnd: (why: string) => void): void {
    const ended = (why: string) => {
      if (!signal.aborted) onEnd(why);
    };
    const question = request({ ...this.#options, agent: false, path, signal }, (response) => {
      if (response.statusCode !== 200) ended(`${path}: status ${response.statusCode}`);
      response.on('data', onChunk);
      response.on('end', () => ended(`${path}: the API server ended the watch`));
      response.on('error', (error) => ended(`${path}: ${error.message}`));
    });
    question.on('error', (error) => ended(`${path}: ${error.message}`));
    question.end();
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(method: string, path: string, body?: object): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const headers = {
        ...this.#options.headers,
        ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
        // The bench does not need the stored object.
        ...(method !== 'GET' && { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' }),
      };
      const question = request({ ...this.#options, agent: this.#agent, method, path, headers }, (response) => {
        const answeredAt = performance.now();
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          const answer = Buffer.concat(parts).toString();
          const status = response.statusCode ?? 0;
          if (status < 300) resolve({ body: answer, answeredAt });
          else reject(new Error(`${method} ${path}: status ${status}: ${answer.slice(0, 500)}`));
        });
      });
      question.on('error', (error) => reject(new Error(`${method} ${path}: ${error.message}`)));
      question.end(text);
    });
  }
}
