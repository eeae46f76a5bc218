import type { PlantedBug } from '@sluice/program/planted-bug';

const [bus, jetstream] = ['libs/bus/src', 'libs/bus/src/jetstream'];

export const busBugs: readonly PlantedBug[] = [
  {
    name: 'the highest offset of former appends is remembered',
    file: `${bus}/local-changes.ts`,
    search: '    this.#highest = 0;\n    if (highest === 0) return;\n',
    replace: '    if (highest === 0) return;\n',
  },
  {
    name: 'a record of another process gets the message of this one',
    file: `${bus}/by-reference-bus.ts`,
    search:
      'return Buffer.compare(own.payload, delivery.payload) === 0 ? { ...delivery, message: own.message } : delivery;',
    replace: 'return { ...delivery, message: own.message };',
  },
  {
    name: 'the bytes of complete messages count as incomplete',
    file: `${bus}/chunks.ts`,
    search: '    this.#bytes -= message.bytes;\n',
    replace: '',
  },
  {
    name: 'records that were returned early are remembered',
    file: `${bus}/early-reader.ts`,
    search: 'this.#repeated.delete(delivery.id) ?',
    replace: 'this.#repeated.has(delivery.id) ?',
  },
  {
    name: 'the end of the log is remembered after its producer has stopped',
    file: `${bus}/local-plans.ts`,
    search: '      this.#producer = undefined;\n      this.#end = undefined;\n',
    replace: '      this.#producer = undefined;\n',
  },
  {
    name: 'appends of lingering records overlap',
    file: `${bus}/lingering-records.ts`,
    search: 'this.#ended = Promise.all([this.#ended, others]).then(() => this.#appendAll(additions));',
    replace: 'this.#ended = Promise.all([others]).then(() => this.#appendAll(additions));',
  },
  {
    name: 'records that a stream has lost are skipped',
    file: `${jetstream}/partition-reader.ts`,
    search: 'if (offset !== last.offset + 1) {',
    replace: 'if (offset <= last.offset) {',
  },
  {
    name: 'a stream is read after the last record, not from it',
    file: `${jetstream}/partition-reader.ts`,
    search: "return offset > 0 && id !== '' ? offset : offset + 1;",
    replace: 'return offset + 1;',
  },
  {
    name: 'unverified records move the offset of a reader',
    file: `${jetstream}/partition-reader.ts`,
    search: '    this.#offset = after;\n    this.#buffer.discardAfter',
    replace: '    this.#buffer.discardAfter',
  },
  {
    name: 'a pull request that the server has ended counts as open',
    file: `${jetstream}/pull-session.ts`,
    search: '    this.#open = undefined;\n    this.pull();\n',
    replace: '    this.pull();\n',
  },
  {
    name: 'appends do not notice that the connection was lost',
    file: `${jetstream}/acks.ts`,
    search: '    link.onDown(() => this.close());\n',
    replace: '',
  },
];
