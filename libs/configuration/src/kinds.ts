import { type BindAddress, formatBindAddress, parseBindAddress, parseDuration } from '@sluice/process';
import { z } from 'zod';
import { type Controllers, controllerList, parseControllers } from './options/settings-options.ts';
import { parseEndpoint, parseQueryUrl, parseTraceUrl } from './options/traces-options.ts';

/** What a file can hold where a setting's value stands. */
export type Plain = string | number | boolean | readonly Plain[] | { readonly [key: string]: Plain };

/** One sort of value: how it is read, checked and shown. */
export interface Kind<T> {
  /** For messages and the guide, as in "wanted is …". */
  readonly wanted: string;
  /** From what YAML makes of it. */
  readonly schema: z.ZodType<T>;
  /** What YAML would have made of the text of a variable or a flag. */
  fromText(text: string): unknown;
  /** As a file has it. */
  show(value: T): Plain;
}

const asIs = (text: string): string => text;

function matching(pattern: RegExp, wanted: string): Kind<string> {
  return { wanted, schema: z.string({ error: wanted }).regex(pattern, { error: wanted }), fromText: asIs, show: asIs };
}

/** Whatever is not empty; `***` is what `sluice config` prints instead of a secret. */
export const text = matching(/^(?!\*\*\*$)[\s\S]+$/, 'a non-empty string, quoted in YAML if it looks like a number');
export const path = matching(/^[^\0]+$/, 'a file path');
export const fleetName = matching(/^[A-Za-z0-9_-]{1,64}$/, '1 to 64 letters, digits, "_" and "-"');

export function whole(least: number, most: number): Kind<number> {
  const wanted = `an integer from ${least} to ${most}`;
  return {
    wanted,
    schema: z.int({ error: wanted }).min(least, { error: wanted }).max(most, { error: wanted }),
    fromText: numeral,
    show: (value) => value,
  };
}

export function oneOf<const T extends string>(...choices: readonly T[]): Kind<T> {
  const wanted = choices.join(', ').replace(/, ([^,]*)$/, ' or $1');
  return { wanted, schema: z.enum(choices, { error: wanted }), fromText: asIs, show: asIs };
}

export const yesOrNo: Kind<boolean> = {
  wanted: 'true or false',
  schema: z.boolean({ error: 'true or false' }),
  fromText: (given) => (given === 'true' ? true : given === 'false' ? false : given),
  show: (value) => value,
};

/** In milliseconds. */
export function duration(least: string, most: string): Kind<number> {
  const wanted = `a duration from ${least} to ${most}, such as 500ms, 20s or 1m30s`;
  const from = parseDuration(least) ?? 0;
  const to = parseDuration(most) ?? 0;
  return {
    wanted,
    schema: z.union([z.string(), z.literal(0)], { error: wanted }).transform((given, context) => {
      const ms = parseDuration(String(given));
      if (ms !== undefined && ms >= from && ms <= to) return ms;
      context.addIssue({ code: 'custom', message: wanted });
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
  // Decimals of a millisecond: what a sum of such may add behind them is not meant.
  parts.push(`${Number((ms % 1_000).toFixed(6))}ms`);
  return parts.filter((part) => !/^0\D/.test(part)).join('') || '0s';
}

const binary = { Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3, Ti: 1024 ** 4 } as const;

/** In bytes. */
export const size: Kind<number> = {
  wanted: 'a size such as 64Mi or 1Gi, or a number of bytes, at least 1Ki',
  schema: z.unknown().transform((given, context) => {
    const parts = /^(\d{1,6})(Ki|Mi|Gi|Ti)$/.exec(typeof given === 'string' ? given : '');
    const bytes = parts === null ? given : Number(parts[1]) * binary[parts[2] as keyof typeof binary];
    if (typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes >= 1024) return bytes;
    context.addIssue({ code: 'custom', message: size.wanted });
    return z.NEVER;
  }),
  fromText: numeral,
  show: (bytes) => {
    const [unit, amount] = Object.entries(binary).findLast(([, one]) => bytes % one === 0) ?? [];
    return unit === undefined || amount === undefined ? bytes : `${bytes / amount}${unit}`;
  },
};

/** One text with commas will do for a list. */
export function addresses(pattern: RegExp, wanted: string): Kind<readonly string[]> {
  const address = z.string({ error: wanted }).regex(pattern, { error: wanted });
  return {
    wanted: `${wanted}; a list or comma-separated`,
    schema: z.preprocess(
      (given) => (typeof given === 'string' ? split(given) : given),
      z.array(address, { error: wanted }).min(1, { error: wanted }),
    ),
    fromText: split,
    show: (value) => value,
  };
}

/** Without ports. */
export const hostNames: Kind<readonly string[]> = addresses(
  /^([a-z0-9._-]+|\[[0-9a-f:.]+\])$/,
  'a host name or address in lower case, without a port',
);

export const controllers: Kind<Controllers> = {
  wanted: "a list of controllers such as '*' or endpoints-controller,endpointslice-controller",
  schema: z
    .union([z.string(), z.array(z.string())], { error: () => controllers.wanted })
    .transform((given, context) => {
      try {
        return parseControllers(typeof given === 'string' ? given : given.join(','));
      } catch {
        context.addIssue({ code: 'custom', message: controllers.wanted });
        return z.NEVER;
      }
    }),
  fromText: asIs,
  show: controllerList,
};

/** `auto`, undefined: the default address, or a free port if that is taken. Null: nowhere. */
export const bindAddress: Kind<BindAddress | null | undefined> = {
  wanted: 'host:port, [IPv6]:port, :port for all interfaces, 0 to disable, or auto',
  schema: z.union([z.string(), z.literal(0)], { error: () => bindAddress.wanted }).transform((given, context) => {
    if (given === 'auto') return undefined;
    try {
      return parseBindAddress(String(given));
    } catch {
      context.addIssue({ code: 'custom', message: bindAddress.wanted });
      return z.NEVER;
    }
  }),
  fromText: asIs,
  show: (address) => (address === undefined ? 'auto' : address === null ? 0 : formatBindAddress(address)),
};

/** `parse` throws at what is no such address. */
function addressOf(wanted: string, parse: (given: string) => string): Kind<string> {
  const schema = z.string({ error: wanted }).transform((given, context) => {
    try {
      return parse(given);
    } catch {
      context.addIssue({ code: 'custom', message: wanted });
      return z.NEVER;
    }
  });
  return { wanted, schema, fromText: asIs, show: asIs };
}

/** With the path that OpenTelemetry has for traces, where there is none. */
export const otlpEndpoint = addressOf('a URL such as http://127.0.0.1:4318, without credentials', parseEndpoint);
/** Where a person looks at a trace. */
export const traceUrl = addressOf(
  'a URL with {traceId}, such as http://127.0.0.1:16686/trace/{traceId}',
  parseTraceUrl,
);
/** Where Jaeger is asked for a trace. */
export const queryUrl = addressOf('a URL such as http://127.0.0.1:16686, without credentials', parseQueryUrl);

const fromZeroToOne = 'a number from 0 to 1';
export const share: Kind<number> = {
  wanted: fromZeroToOne,
  schema: z.number({ error: fromZeroToOne }).min(0, { error: fromZeroToOne }).max(1, { error: fromZeroToOne }),
  fromText: numeral,
  show: (value) => value,
};

function numeral(given: string): unknown {
  return /^-?\d+(\.\d+)?$/.test(given) ? Number(given) : given;
}

function split(given: string): string[] {
  return given.split(',').map((part) => part.trim());
}
