/** Entry point of the lease thread. */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '@sluice/process';
import { type LeaseThreadRequest, type RedisOptions, runLeaseThread } from '@sluice/store-redis';

const port = parentPort;
if (port === null) throw new Error('this file is the entry point of a worker thread');
const handle = runLeaseThread(workerData as RedisOptions, {
  clock: systemClock,
  send: (message) => port.postMessage(message),
});
port.on('message', (request: LeaseThreadRequest) => handle(request));
