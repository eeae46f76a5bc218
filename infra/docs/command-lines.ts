import { type Page, proseLines } from './markdown.ts';

/** A command in a code block or in inline code of a page. */
export interface CommandLine {
  readonly path: string;
  readonly line: number;
  /** The words of the command, without quotes, environment, redirections and what follows a pipe. */
  readonly words: readonly string[];
}

const shells = new Set(['', 'sh', 'bash', 'console', 'shell']);

/** The commands of a page whose program `isProgram` accepts. Other lines of code blocks are output or files. */
export function commandLines({ path, text }: Page, isProgram: (word: string) => boolean): readonly CommandLine[] {
  return [...blockLines(text), ...inlineCode(text)]
    .flatMap(({ line, code }) => commandsOf(code).map((words) => ({ path, line, words })))
    .filter(({ words: [program = ''] }) => isProgram(program))
    .sort((a, b) => a.line - b.line);
}

interface Code {
  readonly line: number;
  readonly code: string;
}

/** The lines of code blocks for a shell; one that ends with a backslash continues. */
function blockLines(text: string): readonly Code[] {
  const prose = proseLines(text);
  const lines: Code[] = [];
  let language: string | undefined;
  let continued: Code | undefined;
  let hereDocumentEnd: string | undefined;
  for (const [index, raw] of text.split('\n').entries()) {
    const [, fence] = /^\s*(?:```|~~~)(.*)$/.exec(raw) ?? [];
    if (fence !== undefined) {
      language = language === undefined ? fence.trim() : undefined;
      continue;
    }
    const isCode = prose[index] === '' && raw.trim() !== '' && shells.has(language ?? '');
    if (!isCode) continue;
    if (hereDocumentEnd !== undefined) {
      if (raw.trim() === hereDocumentEnd) hereDocumentEnd = undefined;
      continue;
    }
    const code: Code = { line: continued?.line ?? index + 1, code: `${continued?.code ?? ''}${raw.trim()}` };
    continued = code.code.endsWith('\\') ? { ...code, code: `${code.code.slice(0, -1)} ` } : undefined;
    if (continued !== undefined) continue;
    hereDocumentEnd = /<<'?(\w+)'?/.exec(code.code)?.[1];
    lines.push({ ...code, code: code.code.replace(/^\$ /, '') });
  }
  return lines;
}

/** Inline code, which may continue on the next line. */
export function inlineCode(text: string): readonly Code[] {
  const prose = proseLines(text).join('\n');
  return [...prose.matchAll(/(?<!`)`([^`]+)`(?!`)/g)]
    .filter(([, code = '']) => !/\n\s*\n/.test(code))
    .map(({ index, 1: code = '' }) => ({
      line: prose.slice(0, index).split('\n').length,
      code: code.replaceAll(/\s*\n\s*/g, ' '),
    }));
}

/** The simple commands of a line: those joined by `|`, `&&` and `;`, and those in `$(…)` and `<(…)`. */
export function commandsOf(line: string): readonly (readonly string[])[] {
  const nested = [...line.matchAll(/[$<]\(([^()]*)\)/g)].flatMap(([, inner = '']) => commandsOf(inner));
  const commands: string[][] = [[]];
  for (const { word, isOperator } of tokensOf(line.replaceAll(/[$<]\([^()]*\)/g, ' … '))) {
    if (word.startsWith('#') && !isOperator) break;
    if (isOperator) commands.push([]);
    else commands.at(-1)?.push(word);
  }
  const simple = commands
    .map((words) =>
      words.slice(
        Math.max(
          0,
          words.findIndex((word) => !/^\w+=/.test(word)),
        ),
      ),
    )
    .filter((words) => words.length > 0);
  return [...simple, ...nested];
}

interface Token {
  readonly word: string;
  readonly isOperator: boolean;
}

/** Words without quotes, and operators. A redirection and its file are dropped. */
function tokensOf(line: string): readonly Token[] {
  const pattern = /\d?(?:>>?|<<?)\s*\S+|(\|\||&&|[|;&])|((?:'[^']*'|"[^"]*"|[^\s'"|;&<>])+)/g;
  return [...line.matchAll(pattern)].flatMap(([, operator, word]): Token[] => {
    if (operator !== undefined) return [{ word: operator, isOperator: true }];
    if (word === undefined) return [];
    return [{ word: word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'), isOperator: false }];
  });
}
