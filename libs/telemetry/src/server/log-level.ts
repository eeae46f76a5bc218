import type { IncomingMessage } from 'node:http';
import { hostOfHeader, isLoopback, logLevels, type RootLogger } from '@sluice/platform/process';

export const logLevelPath = '/debug/log-level';

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * GET returns the log level, PUT changes it until the process exits. Accepts connections from loopback only, which includes
 * `kubectl port-forward` and `kubectl exec`, and only with a loopback name in `Host`, which stops DNS rebinding by web pages.
 */
export async function answerLogLevel(request: IncomingMessage, log: Pick<RootLogger, 'level'>): Promise<Answer> {
  if (!isLoopback(request.socket.remoteAddress ?? '')) {
    return { status: 403, body: 'the log level is accessible from the same host only\n' };
  }
  if (!isLoopback(hostOfHeader(request.headers.host))) {
    return { status: 403, body: 'the log level is accessible as localhost, 127.0.0.1 or [::1] only\n' };
  }
  if (request.method === 'GET' || request.method === 'HEAD') return { status: 200, body: `${log.level}\n` };
  if (request.method !== 'PUT') {
    return { status: 405, body: 'method not allowed; use GET, HEAD or PUT\n', headers: { Allow: 'GET, HEAD, PUT' } };
  }
  const given = await beginningOf(request);
  const level = logLevels.find((one) => one === given.trim());
  if (level === undefined) {
    return { status: 400, body: `invalid log level ${JSON.stringify(given)}; use one of ${logLevels.join(', ')}\n` };
  }
  log.level = level;
  return { status: 200, body: `${level}\n` };
}

/** Upper bound for the length of a level. */
const longest = 32;

async function beginningOf(request: IncomingMessage): Promise<string> {
  let text = '';
  request.setEncoding('utf8');
  for await (const chunk of request as AsyncIterable<string>) {
    // Reads to the end, so that the response can be sent on this connection.
    if (text.length < longest) text += chunk;
  }
  return text.slice(0, longest);
}
