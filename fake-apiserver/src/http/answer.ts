import type { ServerResponse } from 'node:http';
import { isPlainAnswer } from '../faults/plain-answer.ts';
import { internalError, isStatusError, type Status } from '../server/status.ts';

export function sendJson(response: ServerResponse, code: number, body: unknown): void {
  const text = `${JSON.stringify(body)}\n`;
  response.writeHead(code, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

export function sendText(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(text);
}

/** Sends an error as a Status; breaks the connection for a connection error. */
export function sendError(response: ServerResponse, error: unknown): void {
  if (isReset(error) || response.headersSent) {
    response.destroy();
    return;
  }
  if (isPlainAnswer(error)) {
    response.writeHead(error.status, { 'content-type': 'text/html' }).end(error.message);
    return;
  }
  sendStatus(response, isStatusError(error) ? error.status : internalError(String(error)).status);
}

function sendStatus(response: ServerResponse, status: Status): void {
  const seconds = status.details?.retryAfterSeconds;
  if (seconds !== undefined) response.setHeader('retry-after', String(seconds));
  sendJson(response, status.code, status);
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'WATCH_RESET');
}
