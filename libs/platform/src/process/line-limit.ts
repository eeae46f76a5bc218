/** Lines of one event about one cluster in `windowMs`. */
const maxLines = 100;
const windowMs = 60_000;
/** Distinct events and clusters that are limited on their own. Far more than a process has. */
const maxWindows = 10_000;

interface Window {
  readonly event: LoggedEvent;
  readonly endsAt: number;
  lines: number;
  suppressed: number;
}

interface LoggedEvent {
  readonly message: string;
  /** The cluster that the event is about; undefined: none, or unknown. */
  readonly cluster: string | undefined;
}

/** An event whose window has ended, of which lines were suppressed. */
interface SuppressedLines extends LoggedEvent {
  readonly suppressed: number;
}

/**
 * Limits how often an event is logged, so that an API server with many bad objects neither fills a disk nor hides what others
 * log. Each cluster has a limit of its own.
 */
export class LineLimit {
  /** In the order in which they end. */
  readonly #windows = new Map<string, Window>();

  /** Counts a line. Returns whether it may be logged. */
  admits(event: LoggedEvent, now: number): boolean {
    const window = this.#windowOf(event, now);
    if (window.lines < maxLines) {
      window.lines++;
      return true;
    }
    window.suppressed++;
    return false;
  }

  /** Ends the windows whose time is over. Returns those in which lines were suppressed. */
  ended(now: number): readonly SuppressedLines[] {
    const reported: SuppressedLines[] = [];
    for (const [name, { event, endsAt, suppressed }] of this.#windows) {
      if (endsAt > now) break;
      this.#windows.delete(name);
      if (suppressed > 0) reported.push({ ...event, suppressed });
    }
    return reported;
  }

  #windowOf({ message, cluster }: LoggedEvent, now: number): Window {
    const own = `${cluster ?? ''} ${message}`;
    const isFull = this.#windows.size >= maxWindows && !this.#windows.has(own);
    const [name, event] = isFull ? [` ${message}`, { message, cluster: undefined }] : [own, { message, cluster }];
    const open = this.#windows.get(name);
    if (open !== undefined) return open;
    const window = { event, endsAt: now + windowMs, lines: 0, suppressed: 0 };
    this.#windows.set(name, window);
    return window;
  }
}
