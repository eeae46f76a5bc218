import type { IncomingMessage } from 'node:http';
import { type LogLevel, logLevels, type RootLogger } from '@sluice/process';

export const logLevelPath = '/debug/log-level';

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * GET tells the least severe level that is logged, PUT changes it until the process ends. Only from loopback, wherever the
 * server listens: in a Pod, `kubectl port-forward` and `kubectl exec` come from there. And only under a name of loopback:
 * a web page somewhere may have its own name lead here (DNS rebinding), and the browser sends that name along.
 */
export async function answerLogLevel(request: IncomingMessage, log: Pick<RootLogger, 'level'>): Promise<Answer> {
  if (!isLoopback(request.socket.remoteAddress ?? '')) {
    return { status: 403, body: 'the level is told and changed on the same machine only\n' };
  }
  if (!namesLoopback(request.headers.host)) {
    return { status: 403, body: 'the level is told and changed under localhost, 127.0.0.1 or [::1] only\n' };
  }
  if (request.method === 'GET' || request.method === 'HEAD') return { status: 200, body: `${log.level}\n` };
  if (request.method !== 'PUT') {
    return { status: 405, body: 'only GET, HEAD and PUT\n', headers: { Allow: 'GET, HEAD, PUT' } };
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

function namesLoopback(host: string | undefined): boolean {
  const name = (host ?? '').replace(/:\d+$/, '').toLowerCase();
  return name === 'localhost' || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name);
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
