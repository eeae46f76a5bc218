/**
 * How long a reason must last, in milliseconds. When the bus fails for all members, they notice it at different times, and
 * when it is back they connect at different times.
 */
export const isolationDelayMs = 10_000;

/** What a member knows about connections to the bus. */
export interface Connections {
  readonly connected: boolean;
  /** Another member of the group is connected. */
  readonly othersConnected: boolean;
}

/**
 * Decides whether this member is isolated: it cannot reach the bus, and others can. An isolated member leaves its scopes to
 * them. While nobody reaches the bus, nobody is isolated, and the scopes stay where they are.
 */
export class Isolation {
  #isolated = false;
  /** Since when there is a reason to change, on the monotonic clock. */
  #reasonSince: number | undefined;

  get isolated(): boolean {
    return this.#isolated;
  }

  /** Returns whether `isolated` has changed. */
  update({ connected, othersConnected }: Connections, now: number): boolean {
    const hasReason = this.#isolated ? connected : !connected && othersConnected;
    if (!hasReason) {
      this.#reasonSince = undefined;
      return false;
    }
    this.#reasonSince ??= now;
    // Nobody else can work on the scopes, so this member returns at once.
    const isNeeded = this.#isolated && !othersConnected;
    if (!isNeeded && now - this.#reasonSince < isolationDelayMs) return false;
    this.#isolated = !this.#isolated;
    this.#reasonSince = undefined;
    return true;
  }
}
