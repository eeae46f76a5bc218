import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inlineCode } from './command-lines.ts';
import type { Finding, Page } from './markdown.ts';

const root = join(import.meta.dirname, '../..');

/** Metrics, alerts, variables, log lines and error messages that a page names and the code does not have. */
export function checkNames(pages: readonly Page[]): Finding[] {
  return pages.flatMap((page) => [...unknownNames(page), ...unknownTexts(page)]);
}

/** How many texts of programs the pages quote. */
export const countTexts = (pages: readonly Page[]): number => pages.flatMap(quotedTexts).length;

interface Kind {
  readonly what: string;
  readonly pattern: RegExp;
  readonly exists: (name: string) => boolean;
}

const kinds: readonly Kind[] = [
  {
    what: 'metric',
    pattern: /\b(?:sluice|workqueue|endpoint_slice(?:_mirroring)?_controller)_[a-z_]*[a-z]\b/g,
    // The table of upstream's metrics omits the prefixes.
    exists: (name) => {
      const plain = name.replace(/_(?:bucket|sum|count)$/, '');
      const table = read('docs/reference/metrics.md');
      return [plain, plain.replace(/^(?:workqueue|endpoint_slice(?:_mirroring)?_controller)_/, '')].some((one) =>
        table.includes(`\`${one}\``),
      );
    },
  },
  {
    what: 'alert',
    pattern: /\bSluice[A-Z]\w+/g,
    exists: (name) =>
      ['alerts', 'slos'].some((file) => read(`infra/prometheus/${file}.yaml`).includes(`alert: ${name}\n`)),
  },
  {
    what: 'tested Kubernetes release',
    pattern: /\bv1\.\d{2}\.\d+\b/g,
    exists: (name) =>
      ['infra/local/src/binaries.ts', 'conformance/oracle/go.mod', 'conformance/compatibility/results.json'].some(
        (file) =>
          new RegExp(
            `(?:KUBERNETES_VERSION = |k8s\\.io/kubernetes |"kubernetes": )['"]?${RegExp.escape(name)}\\b`,
          ).test(read(file)),
      ),
  },
  {
    what: 'variable',
    pattern: /\bSLUICE_[A-Z_]*[A-Z]\b/g,
    exists: (name) => variables().includes(name.replace(/_FILE$/, '')) || sources().includes(name),
  },
];

/** Each setting of the generated page has a variable: `bus.maxAge.changes` has `SLUICE_BUS_MAX_AGE_CHANGES`. */
const variables = (): readonly string[] =>
  [...read('docs/reference/settings.md').matchAll(/^\| `([\w.]+)`/gm)].map(
    ([, path = '']) => `SLUICE_${path.replace(/[A-Z]/g, '_$&').replaceAll('.', '_').toUpperCase()}`,
  );

function unknownNames({ path, text }: Page): readonly Finding[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      kinds.flatMap(({ what, pattern, exists }) =>
        [...line.matchAll(pattern)]
          .filter(([name]) => !exists(name))
          .map(([name]) => ({ path, line: index + 1, message: `there is no ${what} ${name}` })),
      ),
    );
}

interface Quoted {
  readonly line: number;
  /** Parts that the code has in this form; `…` between them is variable. */
  readonly parts: readonly string[];
}

function unknownTexts(page: Page): readonly Finding[] {
  return quotedTexts(page)
    .filter(({ parts }) => !parts.every((part) => sources().includes(part)))
    .map(({ line, parts }) => ({
      path: page.path,
      line,
      message: `no log line, message or label of Sluice contains "${parts.join('…')}"`,
    }));
}

/** Lines of blocks of language `log`, and inline code of several plain words, which is no command. */
function quotedTexts({ path, text }: Page): readonly Quoted[] {
  if (notQuoting.test(path)) return [];
  const blocks = [...text.matchAll(/```log\n([^`]*)```/g)].flatMap(({ index, 1: lines = '' }) => {
    const first = text.slice(0, index).split('\n').length + 1;
    return lines
      .trimEnd()
      .split('\n')
      .map((code, offset) => ({ line: first + offset, code }));
  });
  return [...blocks, ...inlineCode(text).filter(({ code }) => isMessage(code))].map(({ line, code }) => ({
    line,
    parts: code.split('…').filter((part) => part.trim().length > 1),
  }));
}

/** Decisions are about their time, measurements about other programs. */
const notQuoting = /^(?:CHANGELOG|docs\/(?:adr|contributing)\/|docs\/reference\/parity)/;
const plainWords = /^[A-Za-z…][\w…,;:-]*(?: [\w…,;:./-]+)+$/;
/** The first word of commands, of Sluice and of others, of settings of Redis, and keys of YAML. */
const commands =
  /^(?:\w+: |(?:sluice|clusters|parked|dead-letters|partitions|run|migrate|kubectl|npm|npx|node|helm|docker|nats|promtool|kill|talosctl|kubeadm|redis-cli|CONFIG|GET|PUT|appendonly|appendfsync|curl|maxmemory-policy)\b)/;
/** Examples of causes in the glossary and the guide to tracing. */
const examples = /^Pod shop\//;

const isMessage = (code: string): boolean =>
  plainWords.test(code) && !commands.test(code) && !examples.test(code) && !/ --?[a-z]/.test(code);

let texts: string | undefined;

/** The code of libraries and services, without tests. */
function sources(): string {
  texts ??= globSync('{libs,services}/*/{src,page}/**/*.{ts,lua}', { cwd: root })
    .filter((file) => !/\.test\.ts$|\/testing\//.test(file))
    .map(read)
    .join('\n');
  return texts;
}

const files = new Map<string, string>();

function read(file: string): string {
  const text = files.get(file) ?? readFileSync(join(root, file), 'utf8');
  files.set(file, text);
  return text;
}
