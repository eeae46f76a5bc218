let lastSeconds = Number.NaN;
let lastText = '';

/** Formats seconds since the Unix epoch as RFC 3339. Caches the last value: objects created together share it. */
export function textOfSeconds(seconds: number): string {
  if (seconds === lastSeconds) return lastText;
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return '';
  lastSeconds = seconds;
  lastText = `${date.toISOString().slice(0, -5)}Z`;
  return lastText;
}

/** Returns undefined if the text is not a time. */
export function secondsOfText(text: string): number | undefined {
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? undefined : Math.floor(milliseconds / 1000);
}
