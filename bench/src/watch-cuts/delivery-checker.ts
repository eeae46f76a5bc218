import { isDeepStrictEqual } from 'node:util';
import type { FakeApiServer } from '@sluice/fake-apiserver';
import type { RawObject, ReflectorSink, WatchEvent } from '@sluice/kubernetes';

export interface CheckResult {
  /** Number of comparisons of the delivered state with the server's state at the same resourceVersion. */
  readonly compared: number;
  /** Comparisons that differed: an event was missing or wrong. */
  readonly wrong: number;
  /** Deliveries older than an earlier one. */
  readonly wentBack: number;
  readonly lists: number;
}

/** A change to one object. */
export interface Change {
  readonly version: number;
  readonly name: string;
  /** Undefined if the object was deleted. */
  readonly objectVersion: string | undefined;
}

/** A sink that compares every delivery with the history of the server. */
export class DeliveryChecker implements ReflectorSink {
  readonly #history: Change[] = [];
  readonly #stored = new Map<string, string>();
  readonly #delivered = new Map<string, string>();
  #at = 0;
  #read = 0;
  #compared = 0;
  #wrong = 0;
  #wentBack = 0;
  #lists = 0;

  /** Compares Pods. Create it while the server has none. */
  static of(server: FakeApiServer): DeliveryChecker {
    const checker = new DeliveryChecker();
    server.onCommit((resource, { type, object, resourceVersion }) => {
      if (resource !== 'pods') return;
      const { name, resourceVersion: objectVersion } = object.metadata;
      checker.record({
        version: resourceVersion,
        name,
        objectVersion: type === 'DELETED' ? undefined : objectVersion,
      });
    });
    return checker;
  }

  /** Records a change; in order of resourceVersion, and before deliveries of that resourceVersion are checked. */
  record(change: Change): void {
    this.#history.push(change);
  }

  get results(): CheckResult {
    return { compared: this.#compared, wrong: this.#wrong, wentBack: this.#wentBack, lists: this.#lists };
  }

  /** Number of objects whose delivered state is currently missing or wrong. */
  missing(): number {
    this.#catchUp(Number.POSITIVE_INFINITY);
    const names = new Set([...this.#stored.keys(), ...this.#delivered.keys()]);
    return [...names].filter((name) => this.#stored.get(name) !== this.#delivered.get(name)).length;
  }

  replace(objects: readonly RawObject[], resourceVersion: string): void {
    this.#lists++;
    this.#delivered.clear();
    for (const object of objects) this.#delivered.set(metadataOf(object).name, metadataOf(object).resourceVersion);
    this.#compare(Number(resourceVersion));
  }

  apply(events: readonly WatchEvent[]): void {
    for (const event of events) {
      if (event.type === 'BOOKMARK') {
        this.#compare(Number(event.resourceVersion));
        continue;
      }
      const { name, resourceVersion } = metadataOf(event.object);
      if (event.type === 'DELETED') this.#delivered.delete(name);
      else this.#delivered.set(name, resourceVersion);
      this.#compare(Number(resourceVersion));
    }
  }

  #compare(version: number): void {
    if (version < this.#at) {
      this.#wentBack++;
      return;
    }
    this.#catchUp(version);
    this.#at = version;
    this.#compared++;
    if (!isDeepStrictEqual(this.#delivered, this.#stored)) this.#wrong++;
  }

  #catchUp(version: number): void {
    for (
      let next = this.#history[this.#read];
      next !== undefined && next.version <= version;
      next = this.#history[++this.#read]
    ) {
      if (next.objectVersion === undefined) this.#stored.delete(next.name);
      else this.#stored.set(next.name, next.objectVersion);
    }
  }
}

function metadataOf(object: RawObject): { readonly name: string; readonly resourceVersion: string } {
  return object.metadata as { name: string; resourceVersion: string };
}
