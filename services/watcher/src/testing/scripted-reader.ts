import {
  ApiError,
  type ClusterReader,
  type ListPage,
  type RawObject,
  type Resource,
  type WatchEvent,
  watchedResources,
} from '@sluice/kubernetes';

interface Script {
  items: readonly RawObject[];
  resourceVersion: string;
  /** While set, lists wait. */
  shut: boolean;
  opened: (() => void)[];
  events: WatchEvent[];
  /** Ends the running watch as the server does when it has forgotten what came after that version. */
  expired: boolean;
  wake: () => void;
}

/** A cluster that says what the test wants, when it wants. */
export class ScriptedReader implements ClusterReader {
  readonly watchList = false;
  readonly #scripts = new Map<Resource, Script>(
    watchedResources.map((resource) => [
      resource,
      { items: [], resourceVersion: '10', shut: false, opened: [], events: [], expired: false, wake: () => {} },
    ]),
  );

  /** What the next list finds. */
  holds(resource: Resource, items: readonly RawObject[], resourceVersion = '10'): void {
    Object.assign(this.#script(resource), { items, resourceVersion });
  }

  shut(resource: Resource): void {
    this.#script(resource).shut = true;
  }

  open(resource: Resource): void {
    const script = this.#script(resource);
    script.shut = false;
    for (const resolve of script.opened.splice(0)) resolve();
  }

  send(resource: Resource, ...events: WatchEvent[]): void {
    const script = this.#script(resource);
    script.events.push(...events);
    script.wake();
  }

  expire(resource: Resource): void {
    const script = this.#script(resource);
    script.expired = true;
    script.wake();
  }

  async identity(): Promise<string> {
    return 'cluster-uid';
  }

  async list(resource: Resource): Promise<ListPage> {
    const script = this.#script(resource);
    if (script.shut) await new Promise<void>((resolve) => script.opened.push(resolve));
    return { items: script.items, resourceVersion: script.resourceVersion, continueToken: '' };
  }

  async *watch(resource: Resource, _version: string, signal: AbortSignal): AsyncGenerator<readonly WatchEvent[]> {
    const script = this.#script(resource);
    signal.addEventListener('abort', () => script.wake(), { once: true });
    while (!signal.aborted) {
      if (script.events.length > 0) yield script.events.splice(0);
      else if (script.expired) {
        script.expired = false;
        throw new ApiError('too old', { kind: 'gone', status: 410, reason: 'Expired' });
      } else {
        await new Promise<void>((resolve) => {
          script.wake = resolve;
        });
      }
    }
  }

  #script(resource: Resource): Script {
    const script = this.#scripts.get(resource);
    if (script === undefined) throw new RangeError(resource);
    return script;
  }
}
