// biome-ignore lint/plugin: NATS sends no end to wait for, and its duplicate window is real time
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AckPolicy,
  DeliverPolicy,
  type JetStreamManager,
  jetstreamManager,
  type StreamConfig,
} from '@nats-io/jetstream';
import { createInbox, headers, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { afterEach, describe, expect, test } from 'vitest';

interface Ack {
  readonly type?: 'ack' | 'gap' | 'err';
  readonly seq?: number;
  readonly count?: number;
  readonly duplicate?: boolean;
  readonly error?: { readonly err_code: number };
}

let streams = 0;

/** What the adapter relies on in the protocol of JetStream. A real server and the one of the simulation run it. */
export function jetstreamProtocolContract(name: string, connect: () => Promise<NatsConnection>): void {
  describe(`JetStream protocol: ${name}`, () => {
    const created: { readonly jsm: JetStreamManager; readonly nc: NatsConnection; readonly stream: string }[] = [];

    /** A new stream, and a way to publish to it. */
    async function create(config: Partial<StreamConfig> = {}) {
      const nc = await connect();
      const jsm = await jetstreamManager(nc, { checkAPI: false });
      const stream = `protocol-${process.pid}-${++streams}`;
      await jsm.streams.add({ name: stream, subjects: [stream], discard: 'old', allow_batched: true, ...config });
      created.push({ jsm, nc, stream });
      const publish = (fields: Readonly<Record<string, string>>, bytes = 1) =>
        new Promise<Ack>((resolve) => {
          const reply = createInbox();
          nc.subscribe(reply, { callback: (_, message) => resolve(JSON.parse(Buffer.from(message.data).toString())) });
          const all = headers();
          for (const [field, value] of Object.entries(fields)) all.set(field, value);
          nc.publish(stream, new Uint8Array(bytes), { headers: all, reply });
        });
      return { stream, jsm, nc, publish, state: async () => (await jsm.streams.info(stream)).state };
    }

    afterEach(async () => {
      for (const { jsm, nc, stream } of created.splice(0)) {
        await jsm.streams.delete(stream);
        await nc.close();
      }
    });

    test('a message with a known id is not stored again', async () => {
      const { publish, state } = await create();
      expect(await publish({ 'Nats-Msg-Id': 'a' })).toMatchObject({ seq: 1 });
      expect(await publish({ 'Nats-Msg-Id': 'b' })).toMatchObject({ seq: 2 });
      expect(await publish({ 'Nats-Msg-Id': 'a' })).toMatchObject({ seq: 1, duplicate: true });
      expect(await state()).toMatchObject({ first_seq: 1, last_seq: 2, messages: 2 });
    });

    test('an id is forgotten after the duplicate window', async () => {
      const { publish } = await create({ duplicate_window: 100_000_000 });
      await publish({ 'Nats-Msg-Id': 'a' });
      await sleep(1_000);
      const again = await publish({ 'Nats-Msg-Id': 'a' });
      expect([again.seq, again.duplicate ?? false]).toEqual([2, false]);
    });

    test('a pull request ends before a message that exceeds its bytes, and says how many it still waits for', async () => {
      const { publish, nc, jsm, stream } = await create();
      await publish({});
      await publish({}, 10_000);
      await jsm.consumers.add(stream, {
        ...{ name: 'c', ack_policy: AckPolicy.None },
        ...{ deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: 1 },
      });
      const inbox = createInbox();
      const received: string[] = [];
      nc.subscribe(inbox, {
        callback: (_, { data, headers: status }) => {
          const pending = status?.get('Nats-Pending-Messages');
          received.push(status?.code ? `${status.code} ${pending}` : `${data.length} bytes`);
        },
      });
      const pull = async (maxBytes: number) => {
        const request = { batch: 5, max_bytes: maxBytes, expires: 30_000_000_000, idle_heartbeat: 10_000_000_000 };
        received.length = 0;
        nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.c`, JSON.stringify(request), { reply: inbox });
        await sleep(500);
        return [...received];
      };
      expect(await pull(5_000)).toEqual(['1 bytes', '409 4']);
      expect(await pull(5_000)).toEqual(['409 5']);
      expect(await pull(20_000)).toEqual(['10000 bytes']);
    });

    test('a pull request whose bytes are used up ends without a status', async () => {
      const { publish, nc, jsm, stream } = await create();
      for (let n = 0; n < 5; n++) await publish({}, 1_000);
      await jsm.consumers.add(stream, {
        ...{ name: 'c', ack_policy: AckPolicy.None },
        ...{ deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: 1 },
      });
      const inbox = createInbox();
      const received: (number | string)[] = [];
      nc.subscribe(inbox, {
        callback: (_, message) => {
          const code = message.headers?.code;
          received.push(code ? `${code}` : (message as Msg & { size(): number }).size());
        },
      });
      const pull = async (batch: number, maxBytes: number) => {
        const request = { batch, max_bytes: maxBytes, expires: 30_000_000_000, idle_heartbeat: 10_000_000_000 };
        received.length = 0;
        nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.c`, JSON.stringify(request), { reply: inbox });
        await sleep(500);
        return [...received];
      };
      const [size = 0] = await pull(1, 100_000);
      expect(await pull(5, 2 * Number(size))).toEqual([size, size]);
      expect(await pull(5, 100_000)).toEqual([size, size]);
    });

    test('the oldest messages make room for new ones', async () => {
      const { publish, state } = await create({ max_bytes: 10_000 });
      for (let n = 0; n < 20; n++) await publish({}, 1_000);
      const { first_seq: first, last_seq: last, bytes } = await state();
      expect(last).toBe(20);
      expect(first).toBeGreaterThan(5);
      expect(first).toBeLessThan(20);
      expect(bytes).toBeLessThanOrEqual(10_000);
    });

    describe('a fast batch', () => {
      /** Publishes messages with these ids. A missing one is a gap. Resolves with the answers when the batch has ended. */
      async function batchOn(
        { nc, stream }: Awaited<ReturnType<typeof create>>,
        ids: readonly (string | undefined)[],
        flow = 100,
      ) {
        const inbox = createInbox();
        const batch = inbox.slice(inbox.lastIndexOf('.') + 1);
        const answers: Ack[] = [];
        const ended = new Promise<void>((resolve) => {
          nc.subscribe(`${inbox}.>`, {
            callback: (_, message) => {
              const answer: Ack = JSON.parse(Buffer.from(message.data).toString());
              answers.push(answer);
              if (answer.type === undefined) resolve();
            },
          });
        });
        for (const [i, id] of ids.entries()) {
          if (id === undefined) continue;
          const all = headers();
          all.set('Nats-Msg-Id', id);
          const operation = i === ids.length - 1 ? 2 : i === 0 ? 0 : 1;
          nc.publish(stream, new Uint8Array(1), {
            headers: all,
            reply: `${inbox}.${batch}.${flow}.fail.${i + 1}.${operation}.$FI`,
          });
        }
        await ended;
        return answers;
      }

      test('is answered when it begins and when it ends', async () => {
        const target = await create();
        expect(await batchOn(target, ['a', 'b', 'c'])).toMatchObject([
          { type: 'ack', seq: 0 },
          { seq: 3, count: 3 },
        ]);
        expect(await batchOn(target, ['d'])).toMatchObject([{ seq: 4, count: 1 }]);
      });

      test('is acknowledged once per so many messages in between', async () => {
        const target = await create();
        const answers = await batchOn(target, ['a', 'b', 'c', 'd', 'e'], 2);
        expect(answers.map(({ type, seq }) => [type, seq])).toEqual([
          ['ack', 0],
          ['ack', 2],
          ['ack', 4],
          [undefined, 5],
        ]);
      });

      test('ends at a gap: what follows is not stored', async () => {
        const target = await create();
        const answers = await batchOn(target, ['a', 'b', undefined, 'd', 'e']);
        const [gap, ending] = answers.filter(({ type }) => type !== 'ack');
        expect([gap, ending]).toMatchObject([{ type: 'gap' }, { seq: 2, count: 2 }]);
        expect((await target.state()).last_seq).toBe(2);
      });

      test('without its first message stores nothing', async () => {
        const target = await create();
        const [answer] = await batchOn(target, [undefined, 'b', 'c']);
        expect(answer?.error?.err_code).toBe(10208);
        expect((await target.state()).last_seq).toBe(0);
      });

      test('does not store known ids again, and names the sequence of the last message that it stored', async () => {
        const target = await create();
        await batchOn(target, ['a', 'b']);
        expect((await batchOn(target, ['a', 'b', 'c', 'd'])).at(-1)).toMatchObject({ seq: 4, count: 4 });
        expect((await batchOn(target, ['c', 'd'])).at(-1)).toMatchObject({ seq: 0, count: 2 });
        expect((await batchOn(target, ['c'])).at(-1)).toMatchObject({ seq: 3, count: 1 });
        expect((await target.state()).last_seq).toBe(4);
      });
    });
  });
}
