import {
  type Authenticator,
  credsAuthenticator,
  nkeyAuthenticator,
  nkeys,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from '@nats-io/nats-core';
import { BusSetupError, type NatsCredentials } from './options.ts';

/** @throws BusSetupError `BUS_CREDENTIALS` if they are malformed; the message does not contain them */
export function authenticator(credentials: NatsCredentials): Authenticator {
  if ('token' in credentials) return tokenAuthenticator(credentials.token);
  if ('user' in credentials) return usernamePasswordAuthenticator(credentials.user, credentials.password);
  if ('nkeySeed' in credentials) return nkeyAuthenticator(userSeed(credentials.nkeySeed.trim()));
  const [, seed] = /-----BEGIN USER NKEY SEED-----\s*(\S+)/.exec(credentials.creds) ?? [];
  if (seed === undefined || !/-----BEGIN NATS USER JWT-----\s*\S/.test(credentials.creds)) {
    throw new BusSetupError(
      'BUS_CREDENTIALS',
      'the NATS creds are not a creds file: expected a user JWT and an nkey seed, as nsc writes them',
    );
  }
  userSeed(seed);
  return credsAuthenticator(bytes(credentials.creds));
}

/** Checks the seed here because the NATS client does so only while connecting, with an unclear error. */
function userSeed(seed: string): Uint8Array {
  try {
    if (nkeys.fromSeed(bytes(seed)).getPublicKey().startsWith('U')) return bytes(seed);
  } catch {
    // The error may contain the seed.
  }
  throw new BusSetupError('BUS_CREDENTIALS', 'the NATS nkey seed is not the seed of a user nkey (SU…)');
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
