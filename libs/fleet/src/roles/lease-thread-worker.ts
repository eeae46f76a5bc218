/** Entry point of the lease thread. Its first message contains the options of Redis. */
import { parentPort } from 'node:worker_threads';
import { systemClock } from '@sluice/platform/process';
import { type LeaseThreadRequest, type RedisOptions, runLeaseThread } from '@sluice/store/redis';

const port = parentPort;
if (port === null) throw new Error('this file is the entry point of a worker thread');
port.once('message', (options: RedisOptions) => {
  const handle = runLeaseThread(options, { clock: systemClock, send: (message) => port.postMessage(message) });
  port.on('message', (request: LeaseThreadRequest) => handle(request));
});
