import { canonical, isObject, type Json, type JsonObject } from '@sluice/shadow';

/** Lists whose order is irrelevant. */
const unordered = ['.endpoints', '.endpointslices', '.slices', '.members', '.hintCounts'];
const longest = 160;

/** Differences, one line per place, at most `limit`. */
export function differences(expected: Json, actual: Json, path: string, limit: number): string[] {
  const lines: string[] = [];
  note(expected, actual, path, lines, limit);
  return lines.slice(0, limit);
}

function note(expected: Json, actual: Json, path: string, lines: string[], limit: number): void {
  if (lines.length >= limit || canonical(expected) === canonical(actual)) return;
  if (isObject(expected) && isObject(actual)) noteFields(expected, actual, path, lines, limit);
  else if (!Array.isArray(expected) || !Array.isArray(actual)) {
    lines.push(`${path}: expected ${short(expected)}, got ${short(actual)}`);
  } else if (unordered.some((suffix) => path.endsWith(suffix))) noteMembers(expected, actual, path, lines, limit);
  else noteItems(expected, actual, path, lines, limit);
}

function noteFields(expected: JsonObject, actual: JsonObject, path: string, lines: string[], limit: number): void {
  for (const key of [...new Set([...Object.keys(expected), ...Object.keys(actual)])].sort()) {
    const [a, b] = [expected[key], actual[key]];
    if (a === undefined) lines.push(`${path}.${key}: unexpected ${short(b ?? null)}`);
    else if (b === undefined) lines.push(`${path}.${key}: missing, expected ${short(a)}`);
    else note(a, b, `${path}.${key}`, lines, limit);
  }
}

/** Pairs equal elements first, then the others in order. */
function noteMembers(
  expected: readonly Json[],
  actual: readonly Json[],
  path: string,
  lines: string[],
  limit: number,
): void {
  const missing = withoutThoseOf(expected, actual);
  const unexpected = withoutThoseOf(actual, expected);
  const pairs = Math.min(missing.length, unexpected.length);
  for (let i = 0; i < pairs; i++) note(missing[i] ?? null, unexpected[i] ?? null, `${path}[~]`, lines, limit);
  for (const one of missing.slice(pairs)) lines.push(`${path}: missing element ${short(one)}`);
  for (const one of unexpected.slice(pairs)) lines.push(`${path}: unexpected element ${short(one)}`);
}

function noteItems(
  expected: readonly Json[],
  actual: readonly Json[],
  path: string,
  lines: string[],
  limit: number,
): void {
  for (let i = 0; i < Math.max(expected.length, actual.length); i++) {
    const [a, b] = [expected[i], actual[i]];
    if (a === undefined) lines.push(`${path}[${i}]: unexpected ${short(b ?? null)}`);
    else if (b === undefined) lines.push(`${path}[${i}]: missing, expected ${short(a)}`);
    else note(a, b, `${path}[${i}]`, lines, limit);
  }
}

/** The multiset difference, in canonical order. */
function withoutThoseOf(ones: readonly Json[], others: readonly Json[]): Json[] {
  const counts = new Map<string, number>();
  for (const other of others.map(canonical)) counts.set(other, (counts.get(other) ?? 0) + 1);
  const left = ones.map(canonical).filter((text) => {
    const count = counts.get(text) ?? 0;
    counts.set(text, count - 1);
    return count <= 0;
  });
  return left.sort().map((text) => JSON.parse(text) as Json);
}

function short(value: Json): string {
  const text = canonical(value);
  return text.length < longest ? text : `${text.slice(0, longest - 3)}...`;
}
