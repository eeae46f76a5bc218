import { redact } from '@sluice/platform';
import { isUsageError } from '@sluice/platform/process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toJson, toYaml } from './print.ts';
import { paths, settingAt, variableOf } from './setting-paths.ts';
import { entry, type Given, resolve } from './testing/resolve.ts';

/** Part of every secret in these tests, to detect any leak. */
const mark = 'hUsH';

/** Everything a user can see: printed configuration, warnings, errors. */
function visible(given: Given): string {
  try {
    const { entries, warnings } = resolve(given);
    return [toYaml(entries), toJson(entries), ...warnings].join('\n');
  } catch (error) {
    if (!isUsageError(error)) throw error;
    return String(error.stack);
  }
}

const secrets = paths.filter((path) => settingAt(path).secret);

test('these settings are secret', () => {
  expect(secrets.map((path) => path.split('.').at(-1))).toEqual([
    ...['password', 'token', 'nkeySeed', 'creds', 'key'],
    ...['password', 'sentinelPassword', 'key'],
    ...['token', 'key'],
    'webhookUrl',
  ]);
});

/** The mark within characters that occur in passwords or have a meaning in YAML. */
const secret = fc
  .tuple(
    fc.constantFrom('', '*', '!', '&', '{', '[', '"', "'", '|', '>', '%', '@', '`', '- ', '? ', 'a: ', 'a #', '~'),
    fc.string(),
    fc.string(),
  )
  .map(([first, before, after]) => `${first}${before}${mark}${after}`);

/** A secret after a key as a user may write it, correctly or not, on one line. */
const written = secret.chain((text) =>
  fc.constantFrom(
    JSON.stringify(text),
    text.replace(/[\r\n\u0085\u2028\u2029]/g, ' '),
    `[${JSON.stringify(text)}]`,
    `{ ${JSON.stringify(text)}: 1 }`,
    `{ value: ${JSON.stringify(text)} }`,
    `!!int ${JSON.stringify(text)}`,
    `!${mark} x`,
    `*${mark}`,
  ),
);

const keys = [
  'password',
  'token',
  'nkeySeed',
  'creds',
  'passwordFile',
  'tokenFile',
  'pasword',
  'username: a\n  password',
];
const addresses = ['servers', 'url'];
const schemes = ['nats://', 'tls://', 'kafka://', 'redis://', 'rediss://', 'http://', ''];

/** A line of the section bus or store. */
const line = fc.oneof(
  fc.tuple(fc.constantFrom(...keys), written).map(([key, text]) => `  ${key}: ${text}`),
  fc
    .tuple(
      fc.constantFrom(...addresses),
      fc.constantFrom(...schemes),
      secret,
      fc.boolean(),
      fc.constantFrom('h', 'h:1', 'h:1/2', ''),
    )
    .map(([key, scheme, text, encoded, host]) => {
      const password = encoded ? encodeURIComponent(text) : text;
      return `  ${key}: ${JSON.stringify(`${scheme}u:${password}@${host}`)}`;
    }),
  fc.constantFrom(
    '  servers: "nats://h"',
    '  url: "redis://h"',
    '  kind: nats',
    '  kind: redis',
    '  replicas: x',
    '  mode: y',
  ),
);

const file = fc
  .array(fc.tuple(fc.constantFrom('bus', 'store'), fc.array(line, { minLength: 1, maxLength: 3 })), {
    minLength: 1,
    maxLength: 2,
  })
  .map((sections) => sections.map(([name, lines]) => `${name}:\n${lines.join('\n')}\n`).join(''));

describe('no secret is shown', () => {
  test('from a valid or invalid file', () => {
    fc.assert(
      fc.property(file, (text) => {
        expect(visible({ file: text })).not.toContain(mark);
      }),
      { numRuns: 500 },
    );
  });

  test('from variables and the files they name', () => {
    const variables = secrets.flatMap((path) => [variableOf(path), variableOf(`${path}File`)]);
    const environment = fc.dictionary(fc.constantFrom(...variables, 'SLUICE_STORE_URL', 'SLUICE_BUS_SERVERS'), secret);
    fc.assert(
      fc.property(environment, secret, fc.constantFrom('kafka://k', 'nats://n', undefined), (given, content, bus) => {
        const files = Object.fromEntries(['/a', '/b'].map((name) => [name, content]));
        const flags = bus === undefined ? {} : { '--bus': bus };
        expect(visible({ environment: given, files, flags })).not.toContain(mark);
        expect(visible({ environment: { ...given, SLUICE_BUS_PASSWORD_FILE: '/a' }, files, flags })).not.toContain(
          mark,
        );
      }),
      { numRuns: 500 },
    );
  });

  test('from an address in use', () => {
    fc.assert(
      fc.property(secret, (text) => {
        const url = `redis://${encodeURIComponent(text)}:${encodeURIComponent(text)}@h:1/2`;
        const resolved = resolve({ file: `store: { url: ${JSON.stringify(url)} }` });
        expect(resolved.configuration.store).toMatchObject({ urls: [url] });
        expect(entry(resolved, 'store.url')?.shown).toEqual(['redis://***@h:1/2']);
      }),
    );
  });
});

test('a valid secret in a file is read unchanged', () => {
  fc.assert(
    fc.property(secret, (text) => {
      const { bus } = resolve({ file: `bus: { servers: "nats://n", token: ${JSON.stringify(text)} }` }).configuration;
      expect(bus).toMatchObject({ credentials: { token: text } });
    }),
  );
});

const nats = { SLUICE_BUS_SERVERS: 'tls://h' };
const redis = { SLUICE_STORE_URL: 'rediss://h' };
/** What else has to be set for a secret. */
const besides: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'bus.password': { ...nats, SLUICE_BUS_USERNAME: 'u' },
  'bus.token': nats,
  'bus.nkeySeed': nats,
  'bus.creds': nats,
  'bus.tls.key': { ...nats, SLUICE_BUS_TLS_CERT: 'c' },
  'store.password': redis,
  'store.sentinelPassword': { ...redis, SLUICE_STORE_MODE: 'sentinel', SLUICE_STORE_MASTER_NAME: 'n' },
  'store.tls.key': { ...redis, SLUICE_STORE_TLS_CERT: 'c' },
  'console.token': {},
  'console.tls.key': { SLUICE_CONSOLE_TLS_CERT: 'c' },
};

test.each(secrets)('%s is masked in the log by its value, also after it was replaced', (path) => {
  for (const value of ['opaque-first', 'opaque-second']) {
    const headers = { OTEL_EXPORTER_OTLP_HEADERS: 'x-team=opaque%20header' };
    resolve({ environment: { ...besides[path], ...headers, [variableOf(path)]: value } });
  }
  expect(redact('opaque-first opaque-second (opaque header)')).toBe('*** *** (***)');
});
