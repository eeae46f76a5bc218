import { type About, type Exposition, head, sample } from './exposition.ts';
import { Labelled } from './labelled.ts';

/** One series of a counter. */
export class Count {
  value = 0;

  inc(by = 1): void {
    this.value += by;
  }
}

/** A counter whose series count by themselves. */
export function counted(exposition: Exposition, about: About): Labelled<Count> {
  const counts = new Labelled(about, () => new Count());
  const { name } = about;
  exposition.expose({
    name,
    text() {
      let text = head(about, 'counter');
      for (const { labels, series } of counts.all) text += sample(name, labels, series.value);
      return text;
    },
  });
  return counts;
}
