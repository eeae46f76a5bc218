import { formsOf, knownSecrets } from './known-secrets.ts';
import { masked, SecretIndex } from './secret-index.ts';

/** What settings, kubeconfig fields, variables, headers and log fields are called whose value is a secret. */
const secretNames =
  'passw(?:or)?d|passphrase|webhook(?:-?url)?|pass|pwd|secret|tokens?|nkey-?seed|creds|cred|credential|api[_-]?key|auth|authorization|cookie|sig|signature|(?:secret-?)?access[_-]?key|account-?key|(?:client|private|certificate|tls)-?key(?:-?data)?';
const secretName = new RegExp(`(?:${secretNames})$`, 'i');

/** Names that end like a secret's and name a file or a place instead. */
const harmlessName = /(file|path|selector|namespace|secretName|fencingToken)$/i;

/** Arguments and variables of a plugin that say where and as whom it logs in. */
const publicName = /(name|region|profile|context|role|id|url|uri|host|server|endpoint|home|path|file|dir)$/i;
/** Subcommands, flags and paths. */
const publicValue = /^(?:-{0,2}[a-z]+(?:-[a-z]+)*|[./~][\w./~-]*)$/;

/** Shorter values would be found everywhere. */
const shortestGiven = 4;

const isSecretName = (name: string): boolean => secretName.test(name) && !harmlessName.test(name);

/** The secrets of a parsed configuration or kubeconfig: values of their names, credentials in URLs, and what a plugin is given. */
export function secretsIn(value: unknown, isSecret = false): readonly string[] {
  if (typeof value === 'string') return isSecret ? [value] : credentialsOfUrl(value);
  if (Array.isArray(value)) return value.flatMap((item) => secretsIn(item, isSecret));
  if (typeof value !== 'object' || value === null) return [];
  const fields: Readonly<Record<string, unknown>> = { ...value };
  return [
    ...Object.entries(fields).flatMap(([name, child]) =>
      secretsIn(child, isSecret || name === 'key' || isSecretName(name)),
    ),
    ...pluginSecrets(fields),
    ...pairSecrets(fields),
  ];
}

/** Arguments and environment of an exec plugin, except what is public. */
function pluginSecrets({ command, args, env }: Readonly<Record<string, unknown>>): readonly string[] {
  if (typeof command !== 'string') return [];
  const given: readonly unknown[] = Array.isArray(args) ? args : [];
  const fromArgs = given.flatMap((argument, i) => {
    if (typeof argument !== 'string') return [];
    const [flag = '', ...inline] = argument.startsWith('-')
      ? argument.split('=')
      : [String(given[i - 1] ?? ''), argument];
    return privateValue(flag.startsWith('-') ? flag : '', inline.join('='));
  });
  const variables: readonly unknown[] = Array.isArray(env) ? env : [];
  const fromEnv = variables.flatMap((variable) => {
    const { name, value } = { name: '', value: '', ...(variable as object | null) };
    return typeof value === 'string' ? privateValue(String(name), value) : [];
  });
  return [...fromArgs, ...fromEnv];
}

function privateValue(name: string, value: string): readonly string[] {
  if (value === '') return [];
  if (secretName.test(name)) return [value];
  return publicName.test(name) || publicValue.test(value) ? [] : [value];
}

/** `{ name: X_TOKEN, value: x }`, and user and password, which are sent as one. */
function pairSecrets(fields: Readonly<Record<string, unknown>>): readonly string[] {
  const { name, value, username, password } = fields;
  const pair = typeof name === 'string' && isSecretName(name) && typeof value === 'string' ? [value] : [];
  return typeof username === 'string' && typeof password === 'string'
    ? [...pair, Buffer.from(`${username}:${password}`).toString('base64')]
    : pair;
}

/** Everything before the last @, because a password may contain any character; and secrets in the query. */
function credentialsOfUrl(text: string): readonly string[] {
  const [, userInfo = ''] = /^[a-z][\w+.-]*:\/\/(.*)@/is.exec(text) ?? [];
  const [user = '', ...password] = userInfo.split(':');
  const secret = password.length > 0 ? password.join(':') : user;
  const query = [...(URL.parse(text)?.searchParams ?? [])].map(([, value]) => value);
  const basic = secret === '' ? [] : [Buffer.from(`${decoded(user)}:${decoded(secret)}`).toString('base64')];
  return [secret, decoded(secret), ...query, ...basic].filter((found) => found !== '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * What secrets look like, wherever they are. The first group, if any, stays. A pattern begins only where a word does, and
 * repetitions that another pattern could begin in are bounded, so that a long text takes linear time.
 */
const patterns: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,32}(?:PRIVATE KEY(?: BLOCK)?|NKEY SEED|JWT)-----[\s\S]*?(?:-----END [^-]*-+|$)/g,
  // JSON Web Tokens, such as those of ServiceAccounts.
  /(?<![\w-])eyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/g,
  // Seeds of NATS nkeys.
  /\bS[ACNOPUX][A-Z2-7]{54,}\b/g,
  // Bootstrap tokens of kubeadm.
  /(?<![\w.])[a-z0-9]{6}\.[a-z0-9]{16}(?![\w.])/g,
  // To the end of the line or string: a scheme and parameters, or several cookies.
  /(?<![\w-])((?:proxy-)?authorization\\{0,4}["']?\s{0,8}[:=]\s{0,8})[A-Za-z](?:[^"'\n\\]|(?<==)"[^"\n]{0,1024}")*/gi,
  /(?<![\w-])((?:set-)?cookie\\{0,4}["']?\s{0,8}:\s{0,8})[^\s"'\\][^"'\n\\]*/gi,
  /\b(Bearer|Basic|Negotiate|ApiKey)\s{1,8}[^\s"',;]+/gi,
  /\b(requirepass|masterauth|password is) [^\s"']+/gi,
  // Credentials before the @ of an address; a password may contain slashes.
  /(?<![\w+.-])([a-z][\w+.-]*:\/\/)(?:[^\s/"'<>]{0,1024}|[^\s/:@"'<>]{0,256}:[^\s"'<>]{0,1024})@/gi,
  /(%3A%2F%2F)[^\s"'<>]{0,1024}%40/gi,
];

const quote = String.raw`\\{0,4}["']?`;
const quotedValue = String.raw`\\{1,4}"[^"\\]*|"(?:[^"\\]|\\.)*"|'[^']*'`;
const name = String.raw`[\w.-]*(?:${secretNames})`;
/** `- name: X_TOKEN` and the `value: x` that follows. */
const pair = new RegExp(
  String.raw`(\bname${quote}\s{0,8}:\s{0,8}${quote}${name}${quote}[\s,]{1,64}${quote}value${quote})(\s{0,8}:\s{0,8})(${quotedValue}|[^\s,}\]]+)`,
  'gi',
);
/** A field of YAML whose unquoted value contains spaces. */
const field = new RegExp(String.raw`^([ \t]{0,64}(?:- )?${name})(: {1,8})([^\s"'{[|>&*!#][^\n]*)`, 'gim');
/** `password=x`, `"token": "x"`, `--password x` and the like in logs, YAML and JSON. */
const assignment = new RegExp(
  String.raw`(?<![\w.-])((?:--)?${quote}${name}${quote})(\s*[:=]\s*|(?<=--[\w-]+)\s+)(${quotedValue}|\[[^\]\n]*\]|(?:[^\s,;}\]]|,(?!\s))+)`,
  'gi',
);

/**
 * Replaces the secrets that this process knows and those given, in every form that they are sent or written in, and everything that
 * looks like a secret.
 */
export function redact(text: string, secrets: readonly string[] = []): string {
  let result = knownSecrets.mask(secrets.length === 0 ? text : indexOf(secrets).mask(text));
  for (const pattern of patterns)
    result = result.replace(pattern, (_, kept?: unknown) => {
      if (typeof kept !== 'string') return masked;
      return `${kept}${/\w$/.test(kept) && !kept.endsWith('%2F') ? ' ' : ''}${masked}`;
    });
  for (const pattern of [pair, field, assignment])
    result = result.replace(pattern, (whole, before: string, separator: string, value: string) =>
      before.endsWith('fencingToken') ? whole : `${before}${separator}${maskedLike(value)}`,
    );
  return result;
}

function indexOf(secrets: readonly string[]): SecretIndex {
  const index = new SecretIndex();
  const long = secrets.filter((secret) => secret.trim().length >= shortestGiven);
  for (const form of long.flatMap(formsOf)) index.add(form);
  return index;
}

/** Keeps the quotes, so that JSON and YAML stay valid. */
function maskedLike(value: string): string {
  const [opening = ''] = /^(?:\\*["']|\[")/.exec(value) ?? [];
  if (opening === '["') return `["${masked}"]`;
  return opening.startsWith('\\') ? `${opening}${masked}` : `${opening}${masked}${opening}`;
}
