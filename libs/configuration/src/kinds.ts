import {
  type BindAddress,
  exactSize,
  formatBindAddress,
  parseBindAddress,
  parseDuration,
  parseSize,
} from '@sluice/process';
import { z } from 'zod';
import { type Controllers, controllerList, parseControllers } from './options/settings-options.ts';
import { parseEndpoint, parseQueryUrl, parseTraceUrl } from './options/traces-options.ts';

/** A value as it appears in a configuration file. */
export type Plain = string | number | boolean | readonly Plain[] | { readonly [key: string]: Plain };

/** A type of setting: how its values are parsed, validated and shown. */
export interface Kind<T> {
  /** Description for messages and the documentation, as in "expected …". */
  readonly expected: string;
  /** Validates a value parsed from YAML. */
  readonly schema: z.ZodType<T>;
  /** Converts the text of a variable or flag to the value that YAML would contain. */
  fromText(text: string): unknown;
  /** The value as it appears in a file. */
  show(value: T): Plain;
}

const asIs = (text: string): string => text;

function matching(pattern: RegExp, expected: string): Kind<string> {
  return {
    expected,
    schema: z.string({ error: expected }).regex(pattern, { error: expected }),
    fromText: asIs,
    show: asIs,
  };
}

/** Any non-empty string except `***`, which `sluice config` prints instead of a secret. */
export const text = matching(/^(?!\*\*\*$)[\s\S]+$/, 'a non-empty string, quoted in YAML if it looks like a number');
export const path = matching(/^[^\0]+$/, 'a file path');
export const fleetName = matching(/^[A-Za-z0-9_-]{1,64}$/, '1 to 64 letters, digits, "_" and "-"');

export function integer(min: number, max: number): Kind<number> {
  const expected = `an integer from ${min} to ${max}`;
  return {
    expected,
    schema: z.int({ error: expected }).min(min, { error: expected }).max(max, { error: expected }),
    fromText: parseNumber,
    show: (value) => value,
  };
}

export function oneOf<const T extends string>(...choices: readonly T[]): Kind<T> {
  const expected = choices.join(', ').replace(/, ([^,]*)$/, ' or $1');
  return { expected, schema: z.enum(choices, { error: expected }), fromText: asIs, show: asIs };
}

export const boolean: Kind<boolean> = {
  expected: 'true or false',
  schema: z.boolean({ error: 'true or false' }),
  fromText: (given) => (given === 'true' ? true : given === 'false' ? false : given),
  show: (value) => value,
};

/** A duration, in milliseconds. */
export function duration(min: string, max: string): Kind<number> {
  const expected = `a duration from ${min} to ${max}, such as 500ms, 20s or 1m30s`;
  const from = parseDuration(min) ?? 0;
  const to = parseDuration(max) ?? 0;
  return {
    expected,
    schema: z.union([z.string(), z.literal(0)], { error: expected }).transform((given, context) => {
      const ms = parseDuration(String(given));
      if (ms !== undefined && ms >= from && ms <= to) return ms;
      context.addIssue({ code: 'custom', message: expected });
      return z.NEVER;
    }),
    fromText: asIs,
    show: showDuration,
  };
}

function showDuration(ms: number): string {
  const parts = [
    `${Math.floor(ms / 3_600_000)}h`,
    `${Math.floor(ms / 60_000) % 60}m`,
    `${Math.floor(ms / 1_000) % 60}s`,
  ];
  // Rounds to six decimals to hide floating-point errors.
  parts.push(`${Number((ms % 1_000).toFixed(6))}ms`);
  return parts.filter((part) => !/^0\D/.test(part)).join('') || '0s';
}

/** A size, in bytes. */
export const size: Kind<number> = {
  expected: 'a size such as 64Mi or 1Gi, or a number of bytes, at least 1Ki',
  schema: z.unknown().transform((given, context) => {
    const bytes = typeof given === 'string' ? parseSize(given) : given;
    if (typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes >= 1024) return bytes;
    context.addIssue({ code: 'custom', message: size.expected });
    return z.NEVER;
  }),
  fromText: parseNumber,
  show: (bytes) => exactSize(bytes) ?? bytes,
};

/** A list of addresses, or one comma-separated string. */
export function addresses(pattern: RegExp, expected: string): Kind<readonly string[]> {
  const address = z.string({ error: expected }).regex(pattern, { error: expected });
  return {
    expected: `${expected}; a list or comma-separated`,
    schema: z.preprocess(
      (given) => (typeof given === 'string' ? split(given) : given),
      z.array(address, { error: expected }).min(1, { error: expected }),
    ),
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
  schema: z
    .union([z.string(), z.array(z.string())], { error: () => controllers.expected })
    .transform((given, context) => {
      try {
        return parseControllers(typeof given === 'string' ? given : given.join(','));
      } catch {
        context.addIssue({ code: 'custom', message: controllers.expected });
        return z.NEVER;
      }
    }),
  fromText: asIs,
  show: controllerList,
};

/** `auto` becomes undefined: the default address, or a free port if it is taken. `0` becomes null: do not listen. */
export const bindAddress: Kind<BindAddress | null | undefined> = {
  expected: 'host:port, [IPv6]:port, :port for all interfaces, 0 to disable, or auto',
  schema: z.union([z.string(), z.literal(0)], { error: () => bindAddress.expected }).transform((given, context) => {
    if (given === 'auto') return undefined;
    try {
      return parseBindAddress(String(given));
    } catch {
      context.addIssue({ code: 'custom', message: bindAddress.expected });
      return z.NEVER;
    }
  }),
  fromText: asIs,
  show: (address) => (address === undefined ? 'auto' : address === null ? 0 : formatBindAddress(address)),
};

/** A kind from a `parse` function that throws if the text is invalid. */
function addressOf(expected: string, parse: (given: string) => string): Kind<string> {
  const schema = z.string({ error: expected }).transform((given, context) => {
    try {
      return parse(given);
    } catch {
      context.addIssue({ code: 'custom', message: expected });
      return z.NEVER;
    }
  });
  return { expected, schema, fromText: asIs, show: asIs };
}

/** Without a path, OpenTelemetry's path for traces is added. */
export const otlpEndpoint = addressOf('a URL such as http://127.0.0.1:4318, without credentials', parseEndpoint);
/** Address of a trace in Jaeger's UI. */
export const traceUrl = addressOf(
  'a URL with {traceId}, such as http://127.0.0.1:16686/trace/{traceId}',
  parseTraceUrl,
);
/** Address of Jaeger's query API. */
export const queryUrl = addressOf('a URL such as http://127.0.0.1:16686, without credentials', parseQueryUrl);

const fromZeroToOne = 'a number from 0 to 1';
export const share: Kind<number> = {
  expected: fromZeroToOne,
  schema: z.number({ error: fromZeroToOne }).min(0, { error: fromZeroToOne }).max(1, { error: fromZeroToOne }),
  fromText: parseNumber,
  show: (value) => value,
};

function parseNumber(given: string): unknown {
  return /^-?\d+(\.\d+)?$/.test(given) ? Number(given) : given;
}

function split(given: string): string[] {
  return given.split(',').map((part) => part.trim());
}
