import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';

export interface ComposeService {
  readonly profiles?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly image?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string; readonly required?: boolean }>>;
  readonly deploy?: { readonly replicas: number };
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
}

export interface Compose {
  readonly text: string;
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, null>>;
}

/** Default ports of the API servers on the host. */
export const hostPorts = ['6443', '6444', '6445'];

export function readCompose(root: string): Compose {
  const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
  return { text, ...(merged(load(text)) as Omit<Compose, 'text'>) };
}

/** The directory of make-certificates.sh that the service mounts; undefined: none. */
export function certificatesDirectory({ volumes = [] }: ComposeService): string | undefined {
  const mounted = volumes.map((volume) => volume.split(':')).find(([, target]) => target === '/certificates');
  return mounted?.[0]?.replace(/-server$/, '');
}

/** Resolves `<<` merge keys, which the parser leaves alone. A node's own keys take precedence. */
function merged(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(merged);
  if (typeof node !== 'object' || node === null) return node;
  const { '<<': bases = [], ...own } = node as Record<string, unknown>;
  // Of several bases the first takes precedence.
  const inherited = [bases].flat().toReversed().map(merged);
  const entries = Object.entries(own).map(([key, value]) => [key, merged(value)]);
  return Object.assign({}, ...inherited, Object.fromEntries(entries));
}
