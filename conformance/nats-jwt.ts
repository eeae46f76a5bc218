import { nkeys } from '@nats-io/transport-node';

/** An operator, an account with JetStream and its user, as `nsc` creates them: NATS's decentralized authentication. */
export interface NatsOperator {
  /** Lines for the server's configuration. */
  readonly configuration: string;
  /** Content of the user's `.creds` file. */
  readonly creds: string;
}

type KeyPair = ReturnType<typeof nkeys.createOperator>;

/** New keys at each call; credentials of one operator are invalid with another. */
export function natsOperator(): NatsOperator {
  const operator = nkeys.createOperator();
  const [account, system, user] = [nkeys.createAccount(), nkeys.createAccount(), nkeys.createUser()];
  const everything = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
  const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const operatorJwt = sign(operator, operator, { type: 'operator', system_account: system.getPublicKey() });
  const accountJwt = sign(operator, account, { type: 'account', limits: { ...everything, ...storage } });
  const systemJwt = sign(operator, system, { type: 'account', limits: everything });
  const userJwt = sign(account, user, { type: 'user', subs: -1, data: -1, payload: -1 });
  return {
    configuration: [
      `operator: ${operatorJwt}`,
      `system_account: ${system.getPublicKey()}`,
      'resolver: MEMORY',
      `resolver_preload: { ${account.getPublicKey()}: ${accountJwt}, ${system.getPublicKey()}: ${systemJwt} }`,
    ].join('\n'),
    creds: [
      ...block('NATS USER JWT', userJwt),
      ...block('USER NKEY SEED', new TextDecoder().decode(user.getSeed())),
    ].join('\n'),
  };
}

/** A JSON Web Token in the form of NATS, signed with an nkey. */
function sign(issuer: KeyPair, subject: KeyPair, nats: Readonly<Record<string, unknown>>): string {
  const claims = {
    jti: subject.getPublicKey(),
    iat: 1,
    iss: issuer.getPublicKey(),
    name: 'test',
    sub: subject.getPublicKey(),
    nats: { ...nats, version: 2 },
  };
  const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const text = `${encode({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encode(claims)}`;
  return `${text}.${Buffer.from(issuer.sign(new TextEncoder().encode(text))).toString('base64url')}`;
}

function block(title: string, content: string): readonly string[] {
  return [`-----BEGIN ${title}-----`, content, `------END ${title}------`, ''];
}
