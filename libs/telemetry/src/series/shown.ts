import { type About, type Exposition, head, labelsText, sample } from './exposition.ts';

export interface ShownOptions extends About {
  /** Default: a gauge. */
  readonly type?: 'counter' | 'gauge';
}

/** Shows one value, under these values of the labels in their order. What is shown twice has its last value. */
export type Show = (value: number, ...labels: readonly string[]) => void;

/** A metric that is asked for at each scrape, of what is known elsewhere. */
export function shown(
  exposition: Exposition,
  about: ShownOptions,
  collect: (show: Show) => void | Promise<void>,
): void {
  const { name, labelNames, type = 'gauge' } = about;
  exposition.expose({
    name,
    async text() {
      const values = new Map<string, number>();
      await collect((value, ...labels) => values.set(labelsText(labelNames, labels), value));
      let text = head(about, type);
      for (const [labels, value] of values) text += sample(name, labels, value);
      return text;
    },
  });
}
