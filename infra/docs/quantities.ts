import type { SourceValue } from './source-values.ts';

const words: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  twelve: 12,
  half: 0.5,
};
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const times: Readonly<Record<string, number>> = {
  ...{ ms: 1, s: second, second, seconds: second, min: minute, m: minute, minute, minutes: minute },
  ...{ h: hour, hour, hours: hour, hourly: hour, d: day, day, days: day },
};
const sizes: Readonly<Record<string, number>> = {
  ...{ KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3 },
  ...{ kB: 1e3, MB: 1e6, GB: 1e9 },
};

const unit = [...Object.keys(times), ...Object.keys(sizes)].sort((a, b) => b.length - a.length).join('|');
const word = Object.keys(words).join('|');
const version = String.raw`v?\d+\.\d+\.\d+`;
const number = String.raw`(?:\d+(?:,\d{3})*(?:\.\d+)?|\b(?:half an?|${word})\b)`;
const wordUnit = '(?:second|minute|hour|day)';

/** Matches one quantity in a template of values.ts. */
export const quantityPattern = [
  version,
  `a quarter of a ${wordUnit}`,
  'a quarter',
  'a fifth',
  String.raw`${number}(?:\s?%|[\s-]?(?:${unit})\b)?`,
  `(?:hourly|${wordUnit})`,
].join('|');

/**
 * Every number of a line that a page may quote from the code: all digits, and words with a unit of time. Words as in
 * `two processes` are no defaults or limits.
 */
const quoted = new RegExp(
  [
    String.raw`(?<![\w.,/#:-])${version}`,
    String.raw`(?<![\w.,/#-])(?<!status |RFC )\d+(?:,\d{3})*(?:\.\d+)?(?:\s?%|[\s-]?(?:${unit})\b)?(?![\w-])`,
    String.raw`\b(?:${word})[\s-](?:seconds|minutes|hours|days)\b`,
    String.raw`\b(?:half an?|an?|per|each|every) (?:minute|hour|day)\b`,
    // Not "a second signal".
    String.raw`\b(?:half a|a|per|each|every) second\b(?=[,;:.)]| (?:of|after|or|later|before|if|when|and|to|old|from)\b|$)`,
    String.raw`\bhourly\b`,
  ].join('|'),
  'g',
);

export interface Quantity {
  readonly kind: SourceValue['kind'];
  readonly value: number | string;
}

/** The quantity of a text, or undefined if it is none. */
export function parseQuantity(text: string): Quantity | undefined {
  const plain = text.trim().replaceAll(/\s+/g, ' ');
  if (new RegExp(`^${version}$`).test(plain)) return { kind: 'text', value: plain };
  if (plain === 'a quarter') return { kind: 'percent', value: 25 };
  if (plain === 'a fifth') return { kind: 'percent', value: 20 };
  const [, part] = /^a quarter of a (\w+)$/.exec(plain) ?? [];
  if (part !== undefined) return { kind: 'duration', value: (times[part] ?? Number.NaN) / 4 };
  const [, digits = '', rest = ''] = new RegExp(`^(${number}|)[ -]?(.*)$`).exec(plain) ?? [];
  const value = digits === '' ? 1 : (words[digits.replace(/ an?$/, '')] ?? Number(digits.replaceAll(',', '')));
  if (rest === '%') return { kind: 'percent', value };
  const [time, bytes] = [times[rest], sizes[rest]];
  if (time !== undefined) return { kind: 'duration', value: value * time };
  if (bytes !== undefined) return { kind: 'size', value: value * bytes };
  return rest === '' && digits !== '' ? { kind: 'count', value } : undefined;
}

/** Whether a page says what the code says. */
export function agrees(text: string, { kind, value }: SourceValue): boolean {
  const quantity = parseQuantity(text);
  if (kind === 'text') return String(value).replace(/^v/, '') === text.replace(/^v/, '');
  return (
    quantity !== undefined &&
    quantity.kind === kind &&
    typeof quantity.value === 'number' &&
    Math.abs(quantity.value - Number(value)) < 1e-6
  );
}

/** How a page would write the value. */
export function shown({ kind, value }: SourceValue): string {
  if (typeof value === 'string') return value;
  if (kind === 'percent') return `${value} %`;
  if (kind === 'count') return value.toLocaleString('en-US');
  const units =
    kind === 'duration'
      ? ([
          [hour, 'h'],
          [minute, 'min'],
          [second, 's'],
          [1, 'ms'],
        ] as const)
      : ([
          [1024 ** 3, 'GiB'],
          [1024 ** 2, 'MiB'],
          [1024, 'KiB'],
          [1, 'bytes'],
        ] as const);
  for (const [factor, name] of units)
    if (value >= factor && (value * 10) % factor === 0) return `${value / factor} ${name}`;
  return `${value} ${units[3][1]}`;
}

/** The quantities of a text, by their place. 0, 1 and HTTP statuses have no unit and no constant. */
export function quantitiesOf(text: string): { readonly start: number; readonly text: string }[] {
  return [...text.matchAll(quoted)]
    .filter(([found]) => !/^(?:[01]|4\d\d|503)$/.test(found))
    .map(({ index, 0: found }) => ({ start: index, text: found }));
}
