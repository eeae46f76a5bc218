import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { decodeMessage, formatServiceKey, type Message, type PlannedMutations } from '@sluice/messages';
import { errorMessage } from '@sluice/platform';
import { printableLine } from '@sluice/platform/process';
import { defaultSettings, replayLog, type ServiceMessage, type ServiceState } from '@sluice/service-state';

/** Replays a file that `sluice history export` has written, with the settings that its plans name. */
export function replayCase(file: string): ServiceState {
  return replayLines(readFileSync(file, 'utf8'), basename(file));
}

/** @throws Error that names the line, if it is no message of the Service */
export function replayLines(text: string, name: string): ServiceState {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const messages = lines.map((line, index) => {
    try {
      return parse(line);
    } catch (error) {
      throw new Error(printableLine(`${name}:${index + 1}: ${errorMessage(error)}`));
    }
  });
  const [first] = messages;
  if (first === undefined) throw new Error(printableLine(`${name}: no messages`));
  const service = formatServiceKey(first.key);
  const other = messages.findIndex(({ key }) => formatServiceKey(key) !== service);
  if (other >= 0) throw new Error(printableLine(`${name}:${other + 1}: a message of another Service than ${service}`));
  const mutations = messages.filter((message): message is PlannedMutations => message.kind === 'mutations');
  const changes = messages.filter(({ kind }) => kind !== 'mutations');
  return replayLog(first.key, { changes, mutations }, defaultSettings);
}

function parse(line: string): ServiceMessage {
  const message: Message = decodeMessage(new TextEncoder().encode(line));
  if (message.kind === 'resync' || message.kind === 'clusterRemoved')
    throw new TypeError(`${message.kind} is no message of a Service`);
  return message;
}
