import { type BeforeSend, type ClusterWriter, chainWriter, checkRequests } from '@sluice/kubernetes';
import { expect, test } from 'vitest';
import { WriteGate } from './write-gate.ts';

const signal = new AbortController().signal;

/** Sends requests through the gate. `meanwhile` runs while they wait for a connection. */
function behind(gate: WriteGate, meanwhile: () => void = () => {}) {
  const sent: string[] = [];
  const send = (what: string, beforeSend: BeforeSend | undefined) => {
    meanwhile();
    beforeSend?.();
    sent.push(what);
  };
  const cluster = {
    delete: async (_resource, _namespace, name, _preconditions, _signal, beforeSend) =>
      send(`delete ${name}`, beforeSend),
    get: async (_resource, _namespace, name, _signal, beforeSend) => {
      send(`get ${name}`, beforeSend);
      return {};
    },
  } as Partial<ClusterWriter> as ClusterWriter;
  return { writer: chainWriter(cluster, checkRequests([gate])), sent };
}

test('rejects writes while they are paused, and passes reads', async () => {
  const gate = new WriteGate();
  const { writer, sent } = behind(gate);
  gate.set('competingController', 'another controller writes');
  await expect(writer.delete('endpoints', 'shop', 'cart', {}, signal)).rejects.toMatchObject({
    ...{ kind: 'retry', reason: 'WritesPaused', message: expect.stringContaining('another controller writes') },
  });
  await writer.get('endpoints', 'shop', 'cart', signal);
  gate.set('competingController', undefined);
  await writer.delete('endpoints', 'shop', 'web', {}, signal);
  expect(sent).toEqual(['get cart', 'delete web']);
});

test('does not send a write that waited for a connection while writes were paused', async () => {
  const gate = new WriteGate();
  const { writer, sent } = behind(gate, () => gate.set('claimedByOtherFleet', 'claimed'));
  await expect(writer.delete('endpoints', 'shop', 'cart', {}, signal)).rejects.toMatchObject({
    reason: 'WritesPaused',
  });
  expect(sent).toEqual([]);
});
