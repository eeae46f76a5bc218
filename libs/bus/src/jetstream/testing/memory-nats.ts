import type { StreamConfig } from '@nats-io/jetstream';
import { headers } from '@nats-io/nats-core';
import type { Clock } from '@sluice/platform';
import { MemoryConsumer, type PullRequest, type Send } from './memory-consumer.ts';
import { MemoryStream, type Published } from './memory-stream.ts';

type Saved = readonly { readonly stream: MemoryStream; readonly content: ReturnType<MemoryStream['save']> }[];

/** What a server knows of a connection. */
export interface Client {
  disconnected(): void;
  reconnected(): void;
}

const streamNotFound = { error: { code: 404, err_code: 10059, description: 'stream not found' } };
const encoder = new TextEncoder();

/** How long a client takes to connect again, in milliseconds. */
const reconnectMs = 200;

/** What a server sets if a request omits it. */
const defaults = {
  max_msgs: -1,
  max_msgs_per_subject: -1,
  max_msg_size: -1,
  max_bytes: -1,
  max_age: 0,
  duplicate_window: 120_000_000_000,
};

/** A NATS server with JetStream in this process, with what the adapter uses. What is sent takes effect at once. */
export class MemoryNats {
  readonly #clock: Clock;
  readonly #streams = new Map<string, MemoryStream>();
  /** By stream and name. */
  readonly #consumers = new Map<string, MemoryConsumer>();
  readonly #clients = new Set<Client>();
  /** Whether the connections break before, or after, what a client publishes now takes effect. */
  readonly #breaks: () => boolean;
  #up = true;
  #created = 0;

  constructor(clock: Clock, breaks: () => boolean = () => false) {
    this.#clock = clock;
    this.#breaks = breaks;
  }

  stream(name: string): MemoryStream | undefined {
    return this.#streams.get(name);
  }

  get isUp(): boolean {
    return this.#up;
  }

  /** Ends all connections. What the server keeps in memory is lost. */
  kill(): void {
    this.#up = false;
    for (const [name] of this.#consumers) this.#deleteConsumer(name);
    for (const client of this.#clients) client.disconnected();
  }

  start(): void {
    this.#up = true;
    for (const client of this.#clients) client.reconnected();
  }

  /** Cuts all connections; clients connect again soon. What was on its way is lost. */
  cutConnections(): void {
    for (const client of this.#clients) client.disconnected();
    this.#clock.schedule(reconnectMs, () => {
      if (this.#up) for (const client of this.#clients) client.reconnected();
    });
  }

  save(): Saved {
    return [...this.#streams.values()].map((stream) => ({ stream, content: stream.save() }));
  }

  /** Restarts with what was saved. */
  rewind(saved: Saved): void {
    this.kill();
    this.#streams.clear();
    for (const { stream, content } of saved) {
      stream.load(content);
      this.#streams.set(stream.config.name, stream);
    }
    this.start();
  }

  /** Deletes a stream and creates it again. */
  recreate(name: string): void {
    const stream = this.#streams.get(name);
    if (stream === undefined) return;
    this.#deleteStream(name);
    this.#create(stream.config);
  }

  /** Returns a function that removes the client. */
  add(client: Client): () => void {
    this.#clients.add(client);
    return () => this.#clients.delete(client);
  }

  /** Executes what a client has published. `send` delivers to the client. */
  publish(message: Published, send: Send): void {
    const { subject, reply, data } = message;
    const [, stream = '', consumer = ''] =
      /^\$JS\.API\.CONSUMER\.\w+(?:\.NEXT)?\.([^.]+)\.([^.]+)$/.exec(subject) ?? [];
    if (subject.startsWith('$JS.API.CONSUMER.DELETE.')) return this.#deleteConsumer(`${stream}.${consumer}`);
    if (subject.startsWith('$JS.API.CONSUMER.MSG.NEXT.')) {
      const pulled = this.#consumers.get(`${stream}.${consumer}`);
      if (pulled === undefined) return send(reply, { subject: reply, headers: headers(503) });
      return pulled.pull(reply, JSON.parse(Buffer.from(data).toString()) as PullRequest);
    }
    const target = [...this.#streams.values()].find(({ config }) => config.subjects.includes(subject));
    if (target === undefined) return send(reply, { subject: reply, headers: headers(503) });
    if (this.#breaks()) return this.cutConnections();
    const acks = target.publish(message);
    if (reply !== '')
      for (const ack of acks) send(reply, { subject: reply, data: encoder.encode(JSON.stringify(ack)) });
    for (const [key, waiting] of this.#consumers) if (key.startsWith(`${target.config.name}.`)) waiting.deliver();
    // The answer is lost.
    if (this.#breaks()) this.cutConnections();
  }

  /** Answers a request to the JetStream API. `send` delivers to the client's inboxes. */
  request(subject: string, body: unknown, send: Send): unknown {
    const [, , kind = '', verb = '', name = ''] = subject.split('.');
    const streams = [...this.#streams.values()];
    if (kind === 'CONSUMER') return this.#createConsumer(body as ConsumerRequest, send);
    if (verb === 'LIST' || verb === 'NAMES') {
      const all = verb === 'LIST' ? streams.map(infoOf) : streams.map(({ config }) => config.name);
      const { offset = 0 } = body as { readonly offset?: number };
      const type = `io.nats.jetstream.api.v1.stream_${verb.toLowerCase()}_response`;
      return { type, total: all.length, offset, limit: 256, streams: all.slice(offset, offset + 256) };
    }
    if (verb === 'CREATE') return infoOf(this.#streams.get(name) ?? this.#create(body as StreamConfig));
    // $JS.API.STREAM.MSG.GET.<name>
    const stream = this.#streams.get(verb === 'MSG' ? (subject.split('.')[5] ?? '') : name);
    if (stream === undefined) return streamNotFound;
    if (verb === 'MSG') return messageOf(stream, (body as { readonly seq: number }).seq);
    if (verb === 'DELETE') this.#deleteStream(name);
    return verb === 'DELETE' ? { success: true } : infoOf(stream);
  }

  #create(config: StreamConfig): MemoryStream {
    this.#created += 1;
    const created = `${new Date(this.#clock.now()).toISOString()}/${this.#created}`;
    const stream = new MemoryStream({ ...defaults, ...config }, created, () => this.#clock.now());
    this.#streams.set(config.name, stream);
    return stream;
  }

  #deleteStream(name: string): void {
    this.#streams.delete(name);
    for (const key of [...this.#consumers.keys()]) if (key.startsWith(`${name}.`)) this.#deleteConsumer(key);
  }

  #createConsumer({ stream_name, config }: ConsumerRequest, send: Send): unknown {
    const stream = this.#streams.get(stream_name);
    if (stream === undefined) return streamNotFound;
    const consumer = new MemoryConsumer(config.name, stream, config.opt_start_seq, this.#clock, send);
    this.#consumers.set(`${stream_name}.${config.name}`, consumer);
    return { stream_name, name: config.name, config };
  }

  #deleteConsumer(key: string): void {
    this.#consumers.get(key)?.delete();
    this.#consumers.delete(key);
  }
}

interface ConsumerRequest {
  readonly stream_name: string;
  readonly config: { readonly name: string; readonly opt_start_seq: number };
}

const infoOf = ({ config, created, state }: MemoryStream) => ({ config, created, state });

function messageOf(stream: MemoryStream, sequence: number): unknown {
  const message = stream.get(sequence);
  if (message === undefined) return { error: { code: 404, err_code: 10037, description: 'no message found' } };
  const lines = [...(message.headers ?? [])].flatMap(([name, values]) =>
    values.map((value) => `${name}: ${value}\r\n`),
  );
  const hdrs = Buffer.from(`NATS/1.0\r\n${lines.join('')}\r\n`).toString('base64');
  const data = Buffer.from(message.data).toString('base64');
  const time = new Date(message.time).toISOString();
  return { message: { subject: message.subject, seq: sequence, hdrs, data, time } };
}
