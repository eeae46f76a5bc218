import { closeSync, openSync, readSync } from 'node:fs';

interface AuditEvent {
  readonly user: { readonly username: string };
  readonly verb: string;
  readonly requestURI: string;
  readonly objectRef?: { readonly resource: string; readonly name?: string };
  readonly responseStatus?: { readonly code?: number };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

/** A request that may change an object. Times are the API server's, in milliseconds since the Unix epoch. */
export interface AuditedWrite {
  readonly user: string;
  readonly request: string;
  readonly resource: string;
  readonly name: string | undefined;
  readonly receivedAt: number;
  readonly endedAt: number;
  readonly status: number;
}

const changes = new Set(['create', 'update', 'patch', 'delete']);

/** The writes of ServiceAccounts in namespace `sluice`, from an audit log that grows. */
export class AuditLog {
  readonly #file: string;
  readonly #writes: AuditedWrite[] = [];
  #offset = 0;
  #rest = Buffer.alloc(0);

  constructor(file: string) {
    this.#file = file;
  }

  /** All writes so far, in the order of the log. */
  read(): readonly AuditedWrite[] {
    const file = openSync(this.#file, 'r');
    try {
      const chunk = Buffer.alloc(1 << 20);
      for (let length = 1; length > 0; this.#offset += length) {
        length = readSync(file, chunk, 0, chunk.length, this.#offset);
        this.#append(chunk.subarray(0, length));
      }
    } finally {
      closeSync(file);
    }
    return this.#writes;
  }

  #append(chunk: Buffer): void {
    const bytes = Buffer.concat([this.#rest, chunk]);
    const end = bytes.lastIndexOf('\n') + 1;
    this.#rest = bytes.subarray(end);
    for (const line of bytes.toString('utf8', 0, end).split('\n')) {
      if (!line.includes('"system:serviceaccount:sluice:')) continue;
      const event = JSON.parse(line) as AuditEvent;
      if (changes.has(event.verb) && !event.requestURI.includes('dryRun=')) this.#writes.push(toWrite(event));
    }
  }
}

function toWrite(event: AuditEvent): AuditedWrite {
  return {
    user: event.user.username,
    request: `${event.verb} ${event.requestURI}`,
    resource: event.objectRef?.resource ?? '',
    name: event.objectRef?.name,
    receivedAt: Date.parse(event.requestReceivedTimestamp),
    endedAt: Date.parse(event.stageTimestamp),
    status: event.responseStatus?.code ?? 0,
  };
}

const guarded = new Set(['endpoints', 'endpointslices', 'events']);

/** Whether only a leader may send it. */
export const isGuarded = ({ resource }: AuditedWrite): boolean => guarded.has(resource);

/** The writes of a process after its lease had expired, or after another process had written, one line each. */
export function violationsIn(
  audited: readonly AuditedWrite[],
  { leaseName, leaseDurationMs }: { readonly leaseName: string; readonly leaseDurationMs: number },
): readonly string[] {
  const byTime = [...audited].sort((a, b) => a.receivedAt - b.receivedAt);
  const writes = byTime.filter(isGuarded);
  const renewals = byTime.filter(({ name, status }) => name === leaseName && status === 200);
  const expiresAt = new Map(renewals.map(({ user, endedAt }) => [user, endedAt + leaseDurationMs]));
  const firstWriteAt = new Map([...writes].reverse().map(({ user, receivedAt }) => [user, receivedAt]));
  return writes.flatMap(({ user, request, receivedAt, endedAt, status }) => {
    // What was refused has changed nothing.
    const lastAt = status < 300 ? endedAt : receivedAt;
    const at = `${user} ${request} status ${status} at ${iso(lastAt)}`;
    const expiry = expiresAt.get(user) ?? Number.NEGATIVE_INFINITY;
    const startedAt = firstWriteAt.get(user) ?? 0;
    const later = [...firstWriteAt].find(([, other]) => other > startedAt && other <= lastAt);
    return [
      ...(lastAt > expiry ? [`${at}: its lease expired at ${iso(expiry)}`] : []),
      ...(later === undefined ? [] : [`${at}: ${later[0]} wrote at ${iso(later[1])}`]),
    ];
  });
}

const iso = (ms: number) => (Number.isFinite(ms) ? new Date(ms).toISOString() : 'no time');
