import { encodeMessage, type Message } from '@sluice/messages';
import type { ServiceLogView } from '../view/schemas.ts';

const decoder = new TextDecoder();

/** The messages as they are on the bus, one per line. */
export function logLines({ messages }: ServiceLogView): string {
  return messages.map((message) => `${decoder.decode(encodeMessage(message as unknown as Message))}\n`).join('');
}
