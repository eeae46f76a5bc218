import { type ProblemReason, type ProblemSeverity, problemReasons } from './problem-reasons.ts';

/** Changes how severe problems of a reason are, or after which time they count. What it does not name stays as it is by default. */
export interface ProblemRule {
  readonly reason: ProblemReason;
  /** Names, or the starts of names before `*`. Default: all. */
  readonly namespaces?: readonly string[] | undefined;
  /** off: they do not count. */
  readonly severity?: ProblemSeverity | 'off' | undefined;
  readonly afterMs?: number | undefined;
}

export interface ProblemDescription {
  readonly severity: ProblemSeverity | 'off';
  readonly afterMs: number;
}

/** How a problem counts: by the first rule that matches it. */
export function describeProblem(
  rules: readonly ProblemRule[],
  { key, reason }: { readonly key: string; readonly reason: ProblemReason },
): ProblemDescription {
  const [, namespace = ''] = key.split('/');
  const rule = rules.find((one) => one.reason === reason && (one.namespaces?.some(matches(namespace)) ?? true));
  const { severity, afterMs } = problemReasons[reason];
  return { severity: rule?.severity ?? severity, afterMs: rule?.afterMs ?? afterMs };
}

/** After which time problems of a reason count at the earliest. */
export const leastAfterMs = (rules: readonly ProblemRule[], reason: ProblemReason): number =>
  Math.min(
    problemReasons[reason].afterMs,
    ...rules.flatMap(({ reason: one, afterMs }) => (one === reason ? (afterMs ?? []) : [])),
  );

const matches = (namespace: string) => (pattern: string) =>
  pattern.endsWith('*') ? namespace.startsWith(pattern.slice(0, -1)) : namespace === pattern;
