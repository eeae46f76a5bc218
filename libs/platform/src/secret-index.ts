/** Characters by which a text is looked up. */
const width = 4;
/** Places of a text at which its window may be. */
const placesTried = 8;

interface Entry {
  readonly text: string;
  /** Where in the text its window begins. */
  readonly at: number;
  uses: number;
}

/**
 * Masks many texts in one pass over another: each is looked up by a window of four of its characters, so that the time depends on
 * the length of what is searched, not on the number of texts (Rabin-Karp).
 */
export class SecretIndex {
  readonly #entries = new Map<string, Entry>();
  readonly #byWindow = new Map<number, Entry[]>();
  readonly #maxPerWindow: number;

  /** Texts that share all their windows with this many others are not masked, which bounds the time of a search. */
  constructor(maxPerWindow = Number.POSITIVE_INFINITY) {
    this.#maxPerWindow = maxPerWindow;
  }

  /** Adds a text of at least four characters. It stays until it has been removed as often as added. */
  add(text: string): void {
    const known = this.#entries.get(text);
    if (known !== undefined) {
      known.uses++;
      return;
    }
    const entry: Entry = { text, at: this.#rarestPlace(text), uses: 1 };
    this.#entries.set(text, entry);
    const window = windowAt(text, entry.at);
    const shared = this.#byWindow.get(window) ?? [];
    if (shared.length >= this.#maxPerWindow) return;
    this.#byWindow.set(window, [...shared, entry]);
  }

  remove(text: string): void {
    const entry = this.#entries.get(text);
    if (entry === undefined || --entry.uses > 0) return;
    this.#entries.delete(text);
    const window = windowAt(text, entry.at);
    const others = (this.#byWindow.get(window) ?? []).filter((one) => one !== entry);
    if (others.length > 0) this.#byWindow.set(window, others);
    else this.#byWindow.delete(window);
  }

  mask(text: string): string {
    if (this.#byWindow.size === 0) return text;
    let result = '';
    let end = 0;
    for (const found of this.#occurrences(text)) {
      if (found.end <= end) continue;
      // An overlap is masked once.
      if (found.start > end || end === 0) result += text.slice(end, found.start) + masked;
      end = found.end;
    }
    return end === 0 ? text : result + text.slice(end);
  }

  /** In the order of their beginnings. */
  #occurrences(text: string): readonly { readonly start: number; readonly end: number }[] {
    const found: { readonly start: number; readonly end: number }[] = [];
    let window = 0;
    for (let i = 0; i < text.length; i++) {
      window = extended(window, text.charCodeAt(i));
      for (const entry of this.#byWindow.get(window) ?? none) {
        const start = i + 1 - width - entry.at;
        if (start >= 0 && text.startsWith(entry.text, start)) found.push({ start, end: start + entry.text.length });
      }
    }
    return found.sort((a, b) => a.start - b.start);
  }

  /** Beginnings and ends are often the same, such as those of tokens and keys. */
  #rarestPlace(text: string): number {
    const last = text.length - width;
    const sharing = (at: number) => this.#byWindow.get(windowAt(text, at))?.length ?? 0;
    let rarest = 0;
    for (let i = 1; i < placesTried; i++) {
      const at = Math.round((i * last) / (placesTried - 1));
      if (sharing(at) < sharing(rarest)) rarest = at;
    }
    return rarest;
  }
}

const none: readonly Entry[] = [];

/** Each character leaves the number after `width` others. */
const extended = (window: number, code: number): number => (window << 8) ^ code;

function windowAt(text: string, at: number): number {
  let window = 0;
  for (let i = at; i < at + width; i++) window = extended(window, text.charCodeAt(i));
  return window;
}

/** Takes the place of a secret. */
export const masked = '***';
