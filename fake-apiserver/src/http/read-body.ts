import type { IncomingMessage } from 'node:http';
import type { RawObject } from '@sluice/kubernetes';
import { errorMessage, isRecord } from '@sluice/platform';
import { badRequest, StatusError } from '../server/status.ts';

/** Size limit of a request body, in bytes. */
const maxBytes = 3 * 1024 * 1024;

/** Parses the JSON object in a request body; an empty body is an empty object. Throws 400, 413 or 415. */
export async function readBody(request: IncomingMessage): Promise<RawObject> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Reads an oversized body to its end, so that the client gets a response instead of a broken connection.
    if (bytes <= maxBytes) chunks.push(chunk);
  }
  if (bytes > maxBytes)
    throw new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${maxBytes}`);
  if (bytes === 0) return {};
  const type = request.headers['content-type'] ?? 'application/json';
  if (!/[/+]json\b/.test(type)) throw unsupportedMediaType(type);
  return parse(Buffer.concat(chunks).toString());
}

export function unsupportedMediaType(type: string): StatusError {
  const text = `the body of the request was in an unknown format: ${type}`;
  return new StatusError(415, 'UnsupportedMediaType', text);
}

function parse(text: string): RawObject {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw badRequest(`the object provided is not valid JSON: ${errorMessage(error)}`);
  }
  if (!isRecord(body)) throw badRequest('the object provided is not an object');
  if ('metadata' in body && !isRecord(body.metadata) && body.metadata !== null)
    throw badRequest('the metadata of the object provided is not an object');
  return body;
}
