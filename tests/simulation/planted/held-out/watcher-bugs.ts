import type { PlantedBug } from '@sluice/program/planted-bug';

const watcher = 'services/watcher/src';

export const watcherBugs: readonly PlantedBug[] = [
  {
    name: 'a failed append is repeated without a pause',
    file: `${watcher}/publisher.ts`,
    search: '        await sleep(clock, retryInMs);\n',
    replace: '',
  },
  {
    name: 'a Service that can be decoded again is published without a snapshot',
    file: `${watcher}/publisher.ts`,
    search: '      dirty.snapshot = true;\n      dirty.initial = true;\n',
    replace: '',
  },
  {
    name: 'watch echoes are published on a timer only once',
    file: `${watcher}/publisher.ts`,
    search: '    this.#cancelTick?.();\n    this.#cancelTick = undefined;\n    for',
    replace: '    this.#cancelTick?.();\n    for',
  },
  {
    name: 'an entry that changes during a commit is forgotten',
    file: `${watcher}/published-state.ts`,
    search: 'if (this.#pending.get(name) === entry) this.#pending.delete(name);',
    replace: 'this.#pending.delete(name);',
  },
  {
    name: 'a watcher does not notice that it is fenced',
    file: `${watcher}/published-state.ts`,
    search: '        this.#fenced.abort(error);\n',
    replace: '',
  },
  {
    name: 'the topology of the first Nodes is compared with all later ones',
    file: `${watcher}/event-handler.ts`,
    search: '    this.#topology = topology;\n',
    replace: '',
  },
  {
    name: 'an old watch event moves the resourceVersion back',
    file: `${watcher}/informer.ts`,
    search: '    if (!isOlderVersion(this.resourceVersion(resource), version)) return;\n',
    replace: '',
  },
  {
    name: 'a Pod that gains a label counts as unchanged',
    file: `${watcher}/event-handler.ts`,
    search: '  return members === 0;\n',
    replace: '  return members <= 0;\n',
  },
  {
    name: 'resync requests are answered before the caches are synced',
    file: `${watcher}/watch-session.ts`,
    search: 'onRequest: (request) => (this.#isPublishing ? this.#answer(request) : []),',
    replace: 'onRequest: (request) => this.#answer(request),',
  },
  {
    name: 'the end of the requests is read after everything is resynced',
    file: `${watcher}/read-resync-requests.ts`,
    search: "        after = await bus.end('requests', 0);\n        await onAnswered?.(after, onRequest(null));\n",
    replace:
      "        const services = onRequest(null);\n        after = await bus.end('requests', 0);\n        await onAnswered?.(after, services);\n",
  },
  {
    name: 'the second half of a snapshot that is too large begins it again',
    file: `${watcher}/compose-changes.ts`,
    search: '...(snapshot && { snapshot: { ...snapshot, first: false } })',
    replace: '...(snapshot && { snapshot })',
  },
  {
    name: 'digests are compared in the first rounds only',
    file: `${watcher}/dirty-set.ts`,
    search: 'i % rounds === round % rounds',
    replace: 'i % rounds === round',
  },
];
