import type { Message } from '@sluice/messages';

const decoder = new TextDecoder();
/** The bus passes payloads by reference. */
const decoded = new WeakMap<Uint8Array, Message>();

/** A process has sent this message as the payload. */
export const encoded = (payload: Uint8Array, message: Message): void => void decoded.set(payload, message);

/** The message of a payload, without the validation that the processes do. */
export function decode(payload: Uint8Array): Message {
  let message = decoded.get(payload);
  if (message === undefined) {
    message = JSON.parse(decoder.decode(payload)) as Message;
    decoded.set(payload, message);
  }
  return message;
}
