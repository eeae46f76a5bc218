const masked = '***';

/** Settings, kubeconfig fields, headers and log fields whose value is a secret, however they are written. */
const secretName =
  /(passw(or)?d|passphrase|secret(?!s?Name)|token|nkey-?seed|creds|credential|api-?key|authorization|cookie|(client|private)-?key(-?data)?|certificate-?key)$/i;

/** Names that end like a secret's and name a file or a place instead. */
const harmlessName = /(file|path|selector|namespace)$/i;

/** Shorter values would be found everywhere. */
const shortestSecret = 4;

/** All strings below names of secrets, and the credentials within URLs, of a parsed configuration or kubeconfig. */
export function secretsIn(value: unknown, isSecret = false): readonly string[] {
  if (typeof value === 'string') return isSecret ? [value] : credentialsOfUrl(value);
  if (Array.isArray(value)) return value.flatMap((item) => secretsIn(item, isSecret));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, child]) =>
    secretsIn(child, isSecret || name === 'key' || (secretName.test(name) && !harmlessName.test(name))),
  );
}

function credentialsOfUrl(text: string): readonly string[] {
  const [, userInfo = ''] = /^[a-z][\w+.-]*:\/\/(.*)@/is.exec(text) ?? [];
  const [user = '', ...password] = userInfo.split(':');
  const secret = password.length > 0 ? password.join(':') : user;
  return secret === '' ? [] : [secret, decoded(secret)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * What secrets look like, wherever they are. The first group, if any, stays. A pattern that begins with a word begins only where a word
 * does, so that a long word is searched once.
 */
const patterns: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*(?:PRIVATE KEY|NKEY SEED|JWT)-----[\s\S]*?(?:-----END [^-]*-+|$)/g,
  // JSON Web Tokens, such as those of ServiceAccounts.
  /(?<![\w-])eyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/g,
  // Seeds of NATS nkeys.
  /\bS[ACNOPUX][A-Z2-7]{54,}\b/g,
  /\b(Bearer|Basic|Negotiate)\s+[^\s"',;]+/gi,
  /(?<![\w+.-])([a-z][\w+.-]*:\/\/)[^\s/"'<>]*@/gi,
];

/** `password=x`, `"token": "x"`, `--password x` and the like in logs, YAML and JSON. */
const assignment = new RegExp(
  [
    /(?<![\w.-])((?:--)?["']?[\w.-]*(?:passw(?:or)?d|passphrase|secret|token|nkey-?seed|creds|api-?key|authorization|cookie|(?:client|private)-?key(?:-?data)?)["']?)/,
    /(\s*[:=]\s*|(?<=--[\w-]+)\s+)/,
    /("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,;}\]]+)/,
  ]
    .map(({ source }) => source)
    .join(''),
  'gi',
);

/** Replaces the given secrets, in plain, JSON, URL and base64 form, and everything that looks like a secret. */
export function redact(text: string, secrets: readonly string[]): string {
  const forms = new Set(secrets.filter((secret) => secret.trim().length >= shortestSecret).flatMap(formsOf));
  // The longest first: one secret may be part of another.
  let result = text;
  for (const form of [...forms].sort((a, b) => b.length - a.length)) result = result.replaceAll(form, masked);
  for (const pattern of patterns)
    result = result.replace(pattern, (_, kept?: unknown) => `${typeof kept === 'string' ? `${kept} ` : ''}${masked}`);
  return result.replace(assignment, (whole, name: string, separator: string, value: string) =>
    name.endsWith('fencingToken') ? whole : `${name}${separator}${quoted(value)}`,
  );
}

function quoted(value: string): string {
  const [first = ''] = value;
  return first === '"' || first === "'" ? `${first}${masked}${first}` : masked;
}

function formsOf(secret: string): readonly string[] {
  const trimmed = secret.trim();
  const base64 = Buffer.from(trimmed).toString('base64');
  const lines = trimmed.split(/\r?\n/).filter((line) => line.length >= 16 && !line.startsWith('-----'));
  const json = JSON.stringify(trimmed).slice(1, -1);
  return [trimmed, json, encodeURIComponent(trimmed), base64, base64.replace(/=+$/, ''), ...lines];
}
