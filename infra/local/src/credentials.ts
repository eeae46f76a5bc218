import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openssl } from './openssl.ts';

/** Users of the API server, by the name of their kubeconfig. */
const IDENTITIES = {
  admin: { user: 'admin', groups: ['system:masters'] },
  'kube-controller-manager': { user: 'system:kube-controller-manager', groups: [] },
  /** The ServiceAccounts of infra/kubernetes/rbac.yaml, which under RBAC have the permissions of that file. */
  sluice: serviceAccount('sluice'),
  'sluice-watcher': serviceAccount('sluice-watcher'),
  'sluice-reconciler': serviceAccount('sluice-reconciler'),
  'sluice-writer': serviceAccount('sluice-writer'),
  /** That of infra/kubernetes/observe.yaml. */
  'sluice-observer': serviceAccount('sluice-observer'),
} as const;

export type Identity = keyof typeof IDENTITIES;

export const identities = Object.keys(IDENTITIES) as readonly Identity[];

/** Files and tokens of one control plane. They are valid nowhere else. */
export interface Credentials {
  readonly caCertificate: string;
  readonly servingCertificate: string;
  readonly servingKey: string;
  readonly serviceAccountKey: string;
  readonly tokenFile: string;
  readonly tokens: Readonly<Record<Identity, string>>;
}

/**
 * Creates a certificate authority, a serving certificate for 127.0.0.1 and localhost, the signing key of ServiceAccount
 * tokens, and a random token per identity.
 *
 * @throws LocalError `openssl` if openssl is missing or fails
 */
export async function makeCredentials(directory: string): Promise<Credentials> {
  const file = (name: string) => join(directory, name);
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const authority = ['-keyout', file('ca.key'), '-out', file('ca.crt'), '-days', '365', '-subj', '/CN=sluice-local-ca'];
  await openssl(['req', '-x509', ...key, ...authority]);
  const request = ['-keyout', file('apiserver.key'), '-out', file('apiserver.csr'), '-subj', '/CN=kube-apiserver'];
  await openssl(['req', ...key, ...request]);
  writeFileSync(file('apiserver.ext'), 'subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc\n');
  const signer = ['-CA', file('ca.crt'), '-CAkey', file('ca.key'), '-CAcreateserial', '-CAserial', file('ca.srl')];
  const signed = ['-days', '365', '-extfile', file('apiserver.ext'), '-out', file('apiserver.crt')];
  await openssl(['x509', '-req', '-in', file('apiserver.csr'), ...signer, ...signed]);
  // kube-apiserver reads this key only in SEC 1 format ("BEGIN EC PRIVATE KEY").
  await openssl(['ecparam', '-genkey', '-name', 'prime256v1', '-noout', '-out', file('sa.key')]);

  const tokens = forEachIdentity(() => randomBytes(24).toString('hex'));
  const lines = identities.map((name, index) => {
    const { user, groups } = IDENTITIES[name];
    return `${tokens[name]},${user},${index + 1},"${groups.join(',')}"\n`;
  });
  writeFileSync(file('tokens.csv'), lines.join(''), { mode: 0o600 });
  return {
    caCertificate: file('ca.crt'),
    servingCertificate: file('apiserver.crt'),
    servingKey: file('apiserver.key'),
    serviceAccountKey: file('sa.key'),
    tokenFile: file('tokens.csv'),
    tokens,
  };
}

/** Writes one self-contained kubeconfig per identity and returns their paths. */
export function writeKubeconfigs(
  directory: string,
  name: string,
  url: string,
  credentials: Credentials,
): Readonly<Record<Identity, string>> {
  const authority = readFileSync(credentials.caCertificate).toString('base64');
  const write = (identity: Identity): string => {
    const path = join(directory, `${identity}.kubeconfig`);
    const context = `${identity}@${name}`;
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': context,
      clusters: [{ name, cluster: { server: url, 'certificate-authority-data': authority } }],
      users: [{ name: context, user: { token: credentials.tokens[identity] } }],
      contexts: [{ name: context, context: { cluster: name, user: context } }],
    };
    // JSON is valid YAML.
    writeFileSync(path, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600 });
    return path;
  };
  return forEachIdentity(write);
}

function forEachIdentity<T>(create: (identity: Identity) => T): Readonly<Record<Identity, T>> {
  return Object.fromEntries(identities.map((identity) => [identity, create(identity)])) as Record<Identity, T>;
}

function serviceAccount(name: string) {
  return {
    user: `system:serviceaccount:sluice:${name}`,
    groups: ['system:serviceaccounts', 'system:serviceaccounts:sluice'],
  } as const;
}
