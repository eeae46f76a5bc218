let lastSeconds = Number.NaN;
let lastText = '';

/** Seconds since the Unix epoch as RFC 3339. Of many objects made together most have the same. */
export function textOfSeconds(seconds: number): string {
  if (seconds === lastSeconds) return lastText;
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return '';
  lastSeconds = seconds;
  lastText = `${date.toISOString().slice(0, -5)}Z`;
  return lastText;
}

/** Undefined if it is no time. */
export function secondsOfText(text: string): number | undefined {
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? undefined : Math.floor(milliseconds / 1000);
}
