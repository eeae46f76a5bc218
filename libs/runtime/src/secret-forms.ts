/** A secret in every form that it is sent or written in. */
export function formsOf(secret: string): readonly string[] {
  const trimmed = secret.trim();
  const bytes = Buffer.from(trimmed);
  const base64 = [bytes.toString('base64'), Buffer.from(secret).toString('base64'), bytes.toString('base64url')];
  const lines = trimmed.split(/\r?\n/).filter((line) => line.length >= 16 && !line.startsWith('-----'));
  const json = jsonString(trimmed);
  const encoded = [encodeURIComponent(trimmed.toWellFormed()), encodeURI(trimmed.toWellFormed())];
  const padded = base64.flatMap((form) => [form, form.replace(/={1,2}$/, '')]);
  return [...new Set([trimmed, json, jsonString(json), ...encoded, ...padded, ...lines])];
}

const jsonString = (text: string): string => JSON.stringify(text).slice(1, -1);
