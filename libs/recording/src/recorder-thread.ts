/** Entry point of the recording thread. Its first message contains the options. */
import { parentPort } from 'node:worker_threads';
import { errorMessage } from '@sluice/platform';
import type { ThreadAnswer, ThreadOptions, ThreadRequest } from './recorder.ts';
import { RecordingDirectory } from './recording-directory.ts';
import { RecordingReader } from './recording-reader.ts';

const port = parentPort;
if (port === null) throw new Error('this file is the entry point of a worker thread');
const send = (answer: ThreadAnswer) => port.postMessage(answer);

port.once('message', ({ directory, ...options }: ThreadOptions) => {
  const reader = new RecordingReader(directory);
  let recording: RecordingDirectory;
  try {
    recording = new RecordingDirectory(directory, { ...options, closeReaders: () => reader.close() });
  } catch (error) {
    send({ kind: 'unusable', reason: errorMessage(error) });
    return;
  }
  send({ kind: 'ready' });
  port.on('message', (request: ThreadRequest) => {
    try {
      switch (request.kind) {
        case 'append':
          send({ kind: 'appended', isNewFile: recording.append(request.records, request.now, request) });
          break;
        case 'ask':
          send({ kind: 'answered', id: request.id, answer: answer(reader, request) });
          break;
        case 'name':
          recording.nameCluster(request.identity, request.name);
          break;
        case 'close':
          recording.close(request.now, request.open);
          break;
      }
    } catch (error) {
      send({ kind: 'failed', reason: errorMessage(error), ...('id' in request && { id: request.id }) });
    }
    // Nothing else keeps the thread alive.
    if (request.kind === 'close') port.close();
  });
});

function answer(reader: RecordingReader, { question, args }: Extract<ThreadRequest, { kind: 'ask' }>): unknown {
  return (reader[question] as (...args: readonly unknown[]) => unknown).apply(reader, [...args]);
}
