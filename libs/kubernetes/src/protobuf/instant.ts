const slots = 256;
const knownSeconds: number[] = new Array<number>(slots).fill(Number.NaN);
const knownTexts: string[] = new Array<string>(slots).fill('');

/** Formats seconds since the Unix epoch as RFC 3339. Caches recent values: conditions, managers and objects share them. */
export function textOfSeconds(seconds: number): string {
  const slot = Math.abs(seconds) % slots;
  if (knownSeconds[slot] === seconds) return knownTexts[slot] ?? '';
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return '';
  const text = `${date.toISOString().slice(0, -5)}Z`;
  knownSeconds[slot] = seconds;
  knownTexts[slot] = text;
  return text;
}

/** Returns undefined if the text is not a time. */
export function secondsOfText(text: string): number | undefined {
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? undefined : Math.floor(milliseconds / 1000);
}
