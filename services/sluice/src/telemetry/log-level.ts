import type { IncomingMessage } from 'node:http';
import { type LogLevel, logLevels, type RootLogger } from '../system/logger.ts';

export const logLevelPath = '/debug/log-level';

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * GET tells the least severe level that is logged, PUT changes it until the process ends. Only from loopback, wherever the
 * server listens: in a Pod, `kubectl port-forward` and `kubectl exec` come from there.
 */
export async function answerLogLevel(request: IncomingMessage, log: Pick<RootLogger, 'level'>): Promise<Answer> {
  if (request.method === 'GET' || request.method === 'HEAD') return { status: 200, body: `${log.level}\n` };
  if (request.method !== 'PUT') {
    return { status: 405, body: 'only GET, HEAD and PUT\n', headers: { Allow: 'GET, HEAD, PUT' } };
  }
  if (!isLoopback(request.socket.remoteAddress ?? '')) {
    return { status: 403, body: 'the level can be changed from the same machine only\n' };
  }
  const given = await beginningOf(request);
  const level = logLevels.find((one) => one === given.trim());
  if (level === undefined) {
    return { status: 400, body: `${JSON.stringify(given)} is not a level: ${logLevels.join(', ')}\n` };
  }
  log.level = level;
  return { status: 200, body: `${level satisfies LogLevel}\n` };
}

function isLoopback(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\./.test(address);
}

/** No level is longer than that. */
const longest = 32;

async function beginningOf(request: IncomingMessage): Promise<string> {
  let text = '';
  request.setEncoding('utf8');
  for await (const chunk of request as AsyncIterable<string>) {
    // The rest is read to its end, so that there is a connection to answer on.
    if (text.length < longest) text += chunk;
  }
  return text.slice(0, longest);
}
