import {
  type Authenticator,
  credsAuthenticator,
  nkeyAuthenticator,
  nkeys,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from '@nats-io/nats-core';
import { BusSetupError } from './errors.ts';
import type { NatsCredentials } from './options.ts';

/** Shows the credentials to each server that asks. @throws BusSetupError `BUS_CREDENTIALS`, without showing them */
export function authenticator(credentials: NatsCredentials): Authenticator {
  if ('token' in credentials) return tokenAuthenticator(credentials.token);
  if ('user' in credentials) return usernamePasswordAuthenticator(credentials.user, credentials.password);
  if ('nkeySeed' in credentials) return nkeyAuthenticator(userSeed(credentials.nkeySeed.trim()));
  const [, seed] = /-----BEGIN USER NKEY SEED-----\s*(\S+)/.exec(credentials.creds) ?? [];
  if (seed === undefined || !/-----BEGIN NATS USER JWT-----\s*\S/.test(credentials.creds)) {
    throw new BusSetupError(
      'BUS_CREDENTIALS',
      'the creds of NATS are not a creds file: a JWT and a seed, as nsc writes',
    );
  }
  userSeed(seed);
  return credsAuthenticator(bytes(credentials.creds));
}

/** The library would find out only while it connects, and say little. */
function userSeed(seed: string): Uint8Array {
  try {
    if (nkeys.fromSeed(bytes(seed)).getPublicKey().startsWith('U')) return bytes(seed);
  } catch {
    // Its words may hold the seed.
  }
  throw new BusSetupError('BUS_CREDENTIALS', 'this is not the seed of an nkey of a user of NATS (SU…)');
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
