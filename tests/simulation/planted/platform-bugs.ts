import type { PlantedBug } from '@sluice/program/planted-bug';

/** Ownership, bus, store and messages. */
export const platformBugs: readonly PlantedBug[] = [
  {
    name: 'leases seem to last twice as long',
    file: 'libs/ownership/src/ownership.ts',
    search: 'return clock.monotonic() + suspendedMs(clock, this.#wallOffset) < renewedAt + ttlMs;',
    replace: 'return clock.monotonic() + suspendedMs(clock, this.#wallOffset) < renewedAt + 2 * ttlMs;',
  },
  {
    name: 'a paused machine believes in its leases',
    file: 'libs/ownership/src/ownership.ts',
    search: 'return clock.monotonic() + suspendedMs(clock, this.#wallOffset) < renewedAt + ttlMs;',
    replace: 'return clock.monotonic() < renewedAt + ttlMs;',
  },
  {
    name: 'a lease counts from the answer',
    file: 'libs/ownership/src/ownership.ts',
    search: '      this.#heartbeatAt = sentAt;\n',
    replace: '      this.#heartbeatAt = clock.monotonic();\n',
  },
  {
    name: 'work continues under an old fencing token',
    file: 'libs/ownership/src/holdings.ts',
    search: 'if (acquired.get(scope) === holding.fencingToken) continue;',
    replace: 'if (acquired.has(scope)) continue;',
  },
  {
    name: 'a new member gets nothing',
    file: 'libs/ownership/src/handover.ts',
    search: 'const offered = others.slice(0, Math.max(0, maxInTransfer(scopes) - this.#inTransfer.size));',
    replace: 'const offered = others.slice(0, 0);',
  },
  {
    name: 'one member owns too much',
    file: 'libs/ownership/src/assign.ts',
    search: 'const cap = Math.ceil(scopes.length / members.length);',
    replace: 'const cap = scopes.length;',
  },
  {
    name: 'a fencing token is given twice',
    file: 'libs/store/src/memory-leases.ts',
    search: 'const fencingToken = Math.max((lease?.fencingToken ?? 0) + 1, Math.floor(this.#clock.now()));',
    replace: 'const fencingToken = lease?.fencingToken ?? Math.floor(this.#clock.now());',
  },
  {
    name: 'a group keeps its version when a lease is acquired',
    file: 'libs/store/src/memory-leases.ts',
    search: '      notable = true;\n      group.state = undefined;\n    }\n    for (const scope of started)',
    replace: '      notable = true;\n    }\n    for (const scope of started)',
  },
  {
    name: 'leases of dead members stay',
    file: 'libs/store/src/memory-leases.ts',
    search: 'if (lease.holder === member) Object.assign(lease, { holder: null, preparedBy: undefined });\n      }\n',
    replace: 'if (lease.holder === member) lease.started = false;\n      }\n',
  },
  {
    name: 'the first chunk of a message is kept twice',
    file: 'libs/bus/src/chunk-assembler.ts',
    search: 'if (chunk.index < message.payloads.length) return undefined;',
    replace: 'if (chunk.index < message.payloads.length) message.payloads.pop();',
  },
  {
    name: 'stamps ignore the epoch',
    file: 'libs/messages/src/stamp.ts',
    search: 'return a.epoch - b.epoch || a.sequence - b.sequence;',
    replace: 'return a.sequence - b.sequence;',
  },
  {
    name: 'plans ignore the epoch',
    file: 'libs/messages/src/planned-mutations.ts',
    search: 'return a.epoch - b.epoch || a.number - b.number;',
    replace: 'return a.number - b.number;',
  },
  {
    name: 'a message loses its resourceVersions',
    file: 'libs/messages/src/schemas.ts',
    search: '  facts: z.array(fact),\n  resourceVersions: versions.optional(),\n',
    replace: '  facts: z.array(fact),\n',
  },
  {
    name: 'a lease is released before its work has stopped',
    file: 'libs/ownership/src/holdings.ts',
    search: '    void this.#options\n      .work({ scope,',
    replace:
      "    signal.addEventListener('abort', stopped, { once: true });\n    void this.#options\n      .work({ scope,",
  },
  {
    name: 'plans are delivered within the process after its production ended',
    file: 'libs/bus/src/local-plans.ts',
    search: '      this.#end = undefined;\n      this.#stopLocal();',
    replace: '      this.#end = undefined;',
  },
  {
    name: 'a Change is delivered early although the one before it was not read',
    file: 'libs/bus/src/local-changes.ts',
    search: ' || !this.#appended.isReached(reader.offset)) return undefined;',
    replace: ') return undefined;',
  },
  {
    name: 'Outcomes get into the log before their plans',
    file: 'libs/bus/src/local-changes.ts',
    search: 'this.#options.lingering.flush(plans)',
    replace: 'this.#options.lingering.flush()',
  },
  {
    name: 'the position of an early record is stored',
    file: 'services/reconciler/src/partition-worker.ts',
    search: 'batch.findLast(({ isEarly }) => !isEarly)',
    replace: 'batch.at(-1)',
  },
  {
    name: 'the store forgets plans before the log has them',
    file: 'services/reconciler/src/partition-worker.ts',
    search: '    await this.#published;\n    const { keys, offset }',
    replace: '    const { keys, offset }',
  },
  {
    name: 'Redis keeps the leases of dead members',
    file: 'libs/store-redis/src/lua/group.lua',
    search: 'if not expiry[holder] then free(scope) end',
    replace: '',
  },
  {
    name: 'Redis keeps the version of a group that has changed',
    file: 'libs/store-redis/src/lua/group.lua',
    search: "if changed then redis.call('SET', version_key,",
    replace: "if not redis.call('GET', version_key) then redis.call('SET', version_key,",
  },
  {
    name: 'Redis reports a restarted store as intact',
    file: 'libs/store-redis/src/lua/claim.lua',
    search: "held[3] == now and not lost and '1' or '0'",
    replace: "held[3] and not lost and '1' or '0'",
  },
  {
    name: 'Redis keeps removed entries',
    file: 'libs/store-redis/src/lua/commit.lua',
    search: "chunks('HDEL', view, tonumber(ARGV[7]))",
    replace: '',
  },
  {
    name: 'a 404 of a proxy means absence',
    file: 'libs/kubernetes/src/status.ts',
    search: "kind: status === undefined ? 'retry' :",
    replace: "kind: status === undefined ? (head.status === 404 ? 'notFound' : 'retry') :",
  },
  {
    name: 'a 404 of another object means absence',
    file: 'libs/kubernetes/src/status.ts',
    search: "return requested !== undefined && isOfObject ? 'notFound' : 'conflict';",
    replace: "return requested !== undefined ? 'notFound' : isOfObject ? 'notFound' : 'conflict';",
  },
  {
    name: 'Retry-After is ignored',
    file: 'libs/kubernetes/src/status.ts',
    search: 'const seconds = details.retryAfterSeconds;',
    replace: 'const seconds: unknown = undefined;',
  },
  {
    name: 'a watcher does not continue the stored stamp',
    file: 'services/watcher/src/publisher.ts',
    search: 'const lastStamp = publishedState?.lastStamp(partition) ?? {',
    replace: 'const lastStamp = (publishedState && undefined) ?? {',
  },
];
