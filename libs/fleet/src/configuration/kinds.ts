import {
  type BindAddress,
  exactDuration,
  exactSize,
  formatBindAddress,
  parseBindAddress,
  parseDuration,
  parseSize,
} from '@sluice/platform/process';
import { InvalidArgumentError } from 'commander';
import {
  type Controllers,
  controllerList,
  durationFlag,
  inRange,
  parseControllers,
} from './options/settings-options.ts';

/** A value as it appears in a configuration file. */
export type Plain = string | number | boolean | readonly Plain[] | { readonly [key: string]: Plain };

/** Reports that a value is wrong, or an entry of a list. */
type Reject = (index?: number) => undefined;

/** A type of setting: how its values are parsed, validated and shown. */
export interface Kind<T> {
  /** Description for messages, as in "expected …". */
  readonly expected: string;
  /** Validates a value as YAML contains it. */
  parse(raw: unknown, reject: Reject): T | undefined;
  /** Converts the text of a variable or flag to the value that YAML would contain. */
  fromText(text: string): unknown;
  /** The value as it appears in a file. */
  show(value: T): Plain;
  readonly choices?: readonly string[];
  /** For the help: `1–1000`. */
  readonly range?: string;
  /** Parses a flag as kube-controller-manager does. @throws InvalidArgumentError */
  parseFlag?(text: string, flag: string): T;
}

const asIs = (text: string): string => text;

/** A kind of text. `read` returns undefined for a wrong text, or throws. */
function textual(expected: string, read: (text: string) => string | undefined): Kind<string> {
  return {
    expected,
    parse: (raw, reject) => (typeof raw === 'string' ? attempt(() => read(raw)) : undefined) ?? reject(),
    fromText: asIs,
    show: asIs,
  };
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const matching = (pattern: RegExp, expected: string): Kind<string> =>
  textual(expected, (given) => (pattern.test(given) ? given : undefined));

/** Any non-empty string except `***`, which `sluice config` prints instead of a secret. */
export const text = matching(/^(?!\*\*\*$)[\s\S]+$/, 'a non-empty string, quoted in YAML if it looks like a number');
export const path = matching(/^[^\0]+$/, 'a file path');
export const fleetName = matching(/^[A-Za-z0-9_-]{1,64}$/, '1 to 64 letters, digits, "_" and "-"');

function numeric(expected: string, isValid: (value: number) => boolean): Kind<number> {
  return {
    expected,
    parse: (raw, reject) => (typeof raw === 'number' && isValid(raw) ? raw : reject()),
    fromText: parseNumber,
    show: (value) => value,
  };
}

export function integer(min: number, max: number): Kind<number> {
  const isValid = (value: number) => Number.isSafeInteger(value) && value >= min && value <= max;
  return {
    ...numeric(`an integer from ${min} to ${max}`, isValid),
    range: `${min}–${max}`,
    parseFlag: (given, flag) => inRange(flag, min, max)(given),
  };
}

export function oneOf<const T extends string>(...choices: readonly T[]): Kind<T> {
  const expected = choices.join(', ').replace(/, ([^,]*)$/, ' or $1');
  const parse = (raw: unknown, reject: Reject) => choices.find((choice) => choice === raw) ?? reject();
  return { expected, choices, parse, fromText: asIs, show: asIs };
}

export const boolean: Kind<boolean> = {
  expected: 'true or false',
  parse: (raw, reject) => (typeof raw === 'boolean' ? raw : reject()),
  fromText: (given) => (given === 'true' ? true : given === 'false' ? false : given),
  show: (value) => value,
};

/** A duration, in milliseconds. */
export function duration(min: string, max: string): Kind<number> {
  const [from, to] = [parseDuration(min) ?? 0, parseDuration(max) ?? 0];
  return {
    expected: `a duration from ${min} to ${max}, such as 500ms, 20s or 1m30s`,
    parse(raw, reject) {
      const ms = typeof raw === 'string' || raw === 0 ? parseDuration(String(raw)) : undefined;
      return ms !== undefined && ms >= from && ms <= to ? ms : reject();
    },
    fromText: asIs,
    show: exactDuration,
    parseFlag: durationFlag,
  };
}

/** A size, in bytes. */
export const size: Kind<number> = {
  expected: 'a size such as 64Mi or 1Gi, or a number of bytes, at least 1Ki',
  parse(raw, reject) {
    const bytes = typeof raw === 'string' ? parseSize(raw) : raw;
    return typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes >= 1024 ? bytes : reject();
  },
  fromText: parseNumber,
  show: (bytes) => exactSize(bytes) ?? bytes,
  parseFlag(given) {
    const bytes = parseSize(given);
    if (bytes) return bytes;
    throw new InvalidArgumentError(`"${given}" is not a size; expected for example 512Mi`);
  },
};

/** A list of addresses, or one comma-separated string. */
export function addresses(pattern: RegExp, expected: string): Kind<readonly string[]> {
  return {
    expected,
    parse(raw, reject) {
      const list = typeof raw === 'string' ? split(raw) : raw;
      if (!Array.isArray(list) || list.length === 0) return reject();
      const wrong = [...list.keys()].filter((index) => typeof list[index] !== 'string' || !pattern.test(list[index]));
      for (const index of wrong) reject(index);
      return wrong.length === 0 ? (list as readonly string[]) : undefined;
    },
    fromText: split,
    show: (value) => value,
  };
}

export const namespaces: Kind<readonly string[]> = addresses(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'a namespace');

/** Host names without ports. */
export const hostNames: Kind<readonly string[]> = addresses(
  /^([a-z0-9._-]+|\[[0-9a-f:.]+\])$/,
  'a host name or address in lower case, without a port',
);

export const controllers: Kind<Controllers> = {
  expected: "a list of controllers such as '*' or endpoints-controller,endpointslice-controller",
  parse(raw, reject) {
    const list = Array.isArray(raw) && raw.every((one) => typeof one === 'string') ? raw.join(',') : raw;
    return (typeof list === 'string' ? attempt(() => parseControllers(list)) : undefined) ?? reject();
  },
  fromText: asIs,
  show: controllerList,
  parseFlag: parseControllers,
};

/** `auto` becomes undefined: the default address, or a free port if it is taken. `0` becomes null: do not listen. */
export const bindAddress: Kind<BindAddress | null | undefined> = {
  expected: 'host:port, [IPv6]:port, :port for all interfaces, 0 to disable, or auto',
  parse(raw, reject) {
    if (raw === 'auto') return undefined;
    const address = typeof raw === 'string' || raw === 0 ? attempt(() => parseBindAddress(String(raw))) : undefined;
    return address === undefined ? reject() : address;
  },
  fromText: asIs,
  show: (address) => (address === undefined ? 'auto' : address === null ? 0 : formatBindAddress(address)),
};

/** Where to send traces. `memory`: nowhere; the process keeps them. */
export const otlpEndpoint: Kind<string> = {
  ...textual('a URL such as http://127.0.0.1:4318, without credentials, or memory', parseEndpoint),
  parseFlag: parseEndpoint,
};

/** Parses an OTLP endpoint or `memory`; without a path, OpenTelemetry's path for traces is added. @throws InvalidArgumentError */
export function parseEndpoint(given: string): string {
  if (given === 'memory') return given;
  const url = URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new InvalidArgumentError('not a URL such as http://127.0.0.1:4318');
  }
  if (url.username !== '' || url.password !== '') {
    throw new InvalidArgumentError('contains credentials; set OTEL_EXPORTER_OTLP_HEADERS instead');
  }
  if (url.pathname === '/') url.pathname = '/v1/traces';
  return url.href;
}

/** Address of a trace in Jaeger's UI. */
export const traceUrl = textual('a URL with {traceId}, such as http://127.0.0.1:16686/trace/{traceId}', (given) => {
  const url = URL.parse(given.replaceAll('{traceId}', '0'));
  const isValid = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && given.includes('{traceId}');
  return isValid ? given : undefined;
});

/** Address of Jaeger's query API. */
export const queryUrl = textual('a URL such as http://127.0.0.1:16686, without credentials', (given) => {
  const url = URL.parse(given);
  const isPlain = url !== null && url.username === '' && url.search === '' && url.hash === '';
  return isPlain && /^https?:$/.test(url.protocol) ? url.href.replace(/(?<!\/)\/+$/, '') : undefined;
});

/** How long something is kept. */
export const age = duration('1m', '8760h');

export const share: Kind<number> = {
  ...numeric('a number from 0 to 1', (value) => value >= 0 && value <= 1),
  parseFlag(given) {
    const value = /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(given) ? Number(given) : Number.NaN;
    if (value >= 0 && value <= 1) return value;
    throw new InvalidArgumentError(`"${given}" is not a ratio from 0 to 1, such as 0.05`);
  },
};

function parseNumber(given: string): unknown {
  return /^-?\d+(\.\d+)?$/.test(given) ? Number(given) : given;
}

function split(given: string): string[] {
  return given.split(',').map((part) => part.trim());
}
