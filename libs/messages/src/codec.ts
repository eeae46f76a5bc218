import { createRequire } from 'node:module';
import { exceededLimit, messageLimits } from '@sluice/platform';
import type { z } from 'zod';
import type { Change, ClusterRemoved } from './change.ts';
import type { Outcome } from './outcome.ts';
import type { PlannedMutations } from './planned-mutations.ts';
import type { CompactionRequest, RemovalRelease, ResyncRequest } from './requests.ts';

export type Message =
  | Change
  | ClusterRemoved
  | CompactionRequest
  | Outcome
  | PlannedMutations
  | RemovalRelease
  | ResyncRequest;

/**
 * Version of the message schemas. Within a major version fields are only added, and readers ignore unknown fields, which
 * objects of facts keep. Messages of another major version are dead-lettered.
 */
const messageVersion = { major: 1, minor: 8 } as const;
const versionText = `${messageVersion.major}.${messageVersion.minor}`;

type Schemas = typeof import('./schemas.ts');

let loaded: Readonly<Record<string, z.ZodType>> | undefined;

/**
 * Loads the validation schemas ahead of the first message, whose decoding would otherwise block the event loop to load
 * them. All-in-one mode decodes no messages and starts faster without them.
 */
export async function preloadSchemas(): Promise<void> {
  loaded ??= byKind(await import('./schemas.ts'));
}

function byKind(schemas: Schemas): Readonly<Record<string, z.ZodType>> {
  return {
    change: schemas.changeSchema,
    clusterRemoved: schemas.clusterRemovedSchema,
    compaction: schemas.compactionRequestSchema,
    outcome: schemas.outcomeSchema,
    mutations: schemas.plannedMutationsSchema,
    release: schemas.removalReleaseSchema,
    resync: schemas.resyncRequestSchema,
  };
}

/** An invalid message: not JSON, too deep or too large, of an unsupported version, or not matching its schema. */
class MessageError extends Error {
  override readonly name = 'MessageError';
  readonly code = 'MESSAGE_INVALID';
}

export function isMessageError(error: unknown): error is MessageError {
  return error instanceof Error && 'code' in error && error.code === 'MESSAGE_INVALID';
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

export function encodeMessage(message: Message): Uint8Array {
  return encoder.encode(JSON.stringify({ version: versionText, ...message }));
}

/** Decodes and validates a payload from the bus. Throws MessageError, which names the invalid field. */
export function decodeMessage(payload: Uint8Array): Message {
  const raw = parse(payload);
  const exceeded = exceededLimit(raw, messageLimits);
  if (exceeded !== undefined) throw new MessageError(exceeded);
  checkVersion(raw.version);
  return checkMessage(raw);
}

/** Validates a message that is not encoded, such as one from a store. Throws MessageError, which names the invalid field. */
export function checkMessage(raw: Readonly<Record<string, unknown>>): Message {
  loaded ??= byKind(createRequire(import.meta.url)('./schemas.ts') as Schemas);
  const schemas = loaded;
  const schema = typeof raw.kind === 'string' && Object.hasOwn(schemas, raw.kind) ? schemas[raw.kind] : undefined;
  if (schema === undefined) {
    throw new MessageError(`kind ${JSON.stringify(raw.kind)}: expected one of ${Object.keys(schemas).join(', ')}`);
  }
  const result = schema.safeParse(raw);
  if (!result.success) throw new MessageError(`${String(raw.kind)}: ${describe(result.error)}`);
  return result.data as Message;
}

function parse(payload: Uint8Array): Record<string, unknown> {
  let raw: unknown;
  try {
    raw = JSON.parse(decoder.decode(payload));
  } catch (error) {
    throw new MessageError(`not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) throw new MessageError('not a JSON object');
  return raw as Record<string, unknown>;
}

function checkVersion(version: unknown): void {
  const major = typeof version === 'string' ? /^([0-9]+)\.[0-9]+$/.exec(version)?.[1] : undefined;
  if (major === undefined) throw new MessageError(`version ${JSON.stringify(version)}: expected MAJOR.MINOR`);
  if (Number(major) !== messageVersion.major) {
    throw new MessageError(`version ${String(version)}: this program understands ${messageVersion.major}.x`);
  }
}

function describe(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return 'invalid';
  const more = error.issues.length > 1 ? ` (and ${error.issues.length - 1} more)` : '';
  return `${issue.path.join('.') || 'message'}: ${issue.message}${more}`;
}

/** The fields of a bus record besides its payload. */
export interface RecordHead {
  /** Formatted service key. */
  readonly key: string;
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A bus record that encodes its payload on first use, which an in-process bus may never need. The message must not change. */
export class MessageRecord implements RecordHead {
  readonly key: string;
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly message: Message;
  #payload: Uint8Array | undefined;

  constructor({ key, id, headers }: RecordHead, message: Message) {
    this.key = key;
    this.id = id;
    this.headers = headers;
    this.message = message;
  }

  get payload(): Uint8Array {
    this.#payload ??= encodeMessage(this.message);
    return this.#payload;
  }
}

/**
 * Returns the message of a record. A message delivered by reference is trusted; a payload is decoded and validated. Throws
 * MessageError.
 */
export function decodeRecord(record: { readonly payload: Uint8Array; readonly message?: unknown }): Message {
  return record.message === undefined ? decodeMessage(record.payload) : (record.message as Message);
}
