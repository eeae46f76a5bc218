import type { Random } from '@sluice/platform';

const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

export function suffix(random: Random, length: number): string {
  let text = '';
  for (let i = 0; i < length; i++) text += alphabet[Math.floor(random.next() * alphabet.length)];
  return text;
}

/** The version after `1.8.3`: usually the next patch, sometimes the next minor version. */
export function nextVersion(version: string, random: Random): string {
  const [major = 1, minor = 0, patch = 0] = version.split('.').map(Number);
  return random.next() < 0.3 ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}
