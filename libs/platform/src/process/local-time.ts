/** Formats a local time as `03:12:30.120`, with the date unless it is today. */
export function localTime(at: number, now: number): string {
  const date = new Date(at);
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const today = date.toDateString() === new Date(now).toDateString();
  return `${today ? '' : `${day} `}${time}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

/** Formats a local time as `03:12:30`, with the date unless it is today. */
export const timeToSecond = (at: number, now: number): string => localTime(at, now).slice(0, -4);

/** Replaces RFC 3339 times in UTC by local times, so that one output has one time zone. */
export function withLocalTimes(text: string, now: number): string {
  return text.replaceAll(/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g, (time) =>
    timeToSecond(Date.parse(time), now),
  );
}

const two = (n: number): string => String(n).padStart(2, '0');
