/** One server-sent event. */
interface ServerSentEvent {
  readonly name: string;
  readonly data: string;
}

/** Maximum length of an event, in characters. */
const maxLength = 8 * 1024 * 1024;

/** Parses a stream of server-sent events. Skips comments and an incomplete event at the end. */
export async function* parseEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = eventOf(text.slice(0, end));
      text = text.slice(end + 2);
      if (event !== undefined) yield event;
    }
    if (text.length > maxLength) throw new Error('server-sent event is too large');
  }
}

function eventOf(block: string): ServerSentEvent | undefined {
  let name = 'message';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const [, field, value = ''] = /^([^:]+)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'event') name = value;
    if (field === 'data') data.push(value);
  }
  return data.length === 0 ? undefined : { name, data: data.join('\n') };
}
