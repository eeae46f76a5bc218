const [minute, hour, day, year] = [60, 3_600, 86_400, 365 * 86_400];

/** The page is served without packages, so this is a copy. Formats milliseconds as kubectl does (HumanDuration of apimachinery): `42s`, `5m10s`, `3h2m`, `3d4h`, `2y`. */
export function humanDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 2 * minute) return `${seconds}s`;
  if (seconds < 10 * minute) return two(seconds, minute, 'm', 1, 's');
  if (seconds < 3 * hour) return `${Math.floor(seconds / minute)}m`;
  if (seconds < 8 * hour) return two(seconds, hour, 'h', minute, 'm');
  if (seconds < 2 * day) return `${Math.floor(seconds / hour)}h`;
  if (seconds < 8 * day) return two(seconds, day, 'd', hour, 'h');
  if (seconds < 2 * year) return `${Math.floor(seconds / day)}d`;
  return seconds < 8 * year ? two(seconds, year, 'y', day, 'd') : `${Math.floor(seconds / year)}y`;
}

/** In a larger and a smaller unit, without the latter if there are none of it. */
function two(seconds: number, large: number, name: string, small: number, smallName: string): string {
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)}${name}${rest === 0 ? '' : `${rest}${smallName}`}`;
}
