import type { RawObject, ReflectorSink, WatchEvent } from '@sluice/kubernetes';

/** Records deliveries, to check them once the history is known. */
export class Recorder implements ReflectorSink {
  readonly #deliveries: ((sink: ReflectorSink) => void)[] = [];

  replace(objects: readonly RawObject[], resourceVersion: string): void {
    const named = objects.map(reduced);
    this.#deliveries.push((sink) => sink.replace(named, resourceVersion));
  }

  apply(events: readonly WatchEvent[]): void {
    const named = events.map((event) =>
      event.type === 'BOOKMARK' ? event : { ...event, object: reduced(event.object) },
    );
    this.#deliveries.push((sink) => sink.apply(named));
  }

  /** Replays all deliveries. */
  replay(sink: ReflectorSink): void {
    for (const deliver of this.#deliveries) deliver(sink);
  }
}

const reduced = ({ metadata }: RawObject): RawObject => ({ metadata });
