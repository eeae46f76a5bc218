import { readFileSync } from 'node:fs';
import type { Configuration } from '@sluice/fleet/configuration';
import { errorMessage } from '@sluice/platform';
import { parseDuration, UsageError } from '@sluice/platform/process';
import { type ProblemReason, type ProblemRule, problemReasons, problemSeverities } from '@sluice/recording/problems';
import { load } from 'js-yaml';

const keys = ['reason', 'namespaces', 'severity', 'for'];
const severities = [...problemSeverities, 'off'] as const;
const reasons = Object.keys(problemReasons);
const namespace = /^(?:\*|[a-z0-9](?:[a-z0-9-]{0,62})\*?)$/;
const maxForMs = 7 * 86_400_000;

/** The rules in the file that the configuration names. @throws UsageError with all that is wrong in it */
export function configuredProblemRules(
  recording: Pick<Configuration['recording'], 'problemsConfig'> | undefined,
): readonly ProblemRule[] {
  const file = recording?.problemsConfig;
  if (file === undefined) return [];
  const found = new Rules();
  const rules = found.rulesOf(parse(file));
  if (found.wrong.length === 0) return rules;
  throw new UsageError([`${file} is invalid:`, ...found.wrong].join('\n  '));
}

function parse(file: string): unknown {
  try {
    return load(readFileSync(file, 'utf8'));
  } catch (error) {
    // A parser quotes the file in further lines.
    const [reason] = errorMessage(error).split('\n');
    throw new UsageError(`recording.problemsConfig (--problems-config): cannot read ${file}: ${reason}`);
  }
}

/** Reads rules, and collects what is wrong with them. */
class Rules {
  readonly wrong: string[] = [];

  rulesOf(raw: unknown): readonly ProblemRule[] {
    const { problems: list, ...others } = isMap(raw) ? raw : {};
    for (const key of Object.keys(others)) this.#reject(key, 'is not known; the only key is problems');
    if (!Array.isArray(list)) return this.#reject('problems', 'is no list of rules') ?? [];
    return list.flatMap((rule: unknown, i) => this.#ruleOf(rule, `problems[${i}]`) ?? []);
  }

  #ruleOf(raw: unknown, at: string): ProblemRule | undefined {
    if (!isMap(raw)) return this.#reject(at, `is no map of ${keys.join(', ')}`);
    for (const key of Object.keys(raw))
      if (!keys.includes(key)) this.#reject(`${at}.${key}`, `is not known; known are ${keys.join(', ')}`);
    const reason = this.#choice(raw.reason, `${at}.reason`, reasons);
    const { severity, namespaces, for: duration } = raw;
    return reason === undefined
      ? undefined
      : {
          reason: reason as ProblemReason,
          ...(severity !== undefined && { severity: this.#choice(severity, `${at}.severity`, severities) }),
          ...(namespaces !== undefined && { namespaces: this.#namespaces(namespaces, `${at}.namespaces`) }),
          ...(duration !== undefined && { afterMs: this.#duration(duration, `${at}.for`) }),
        };
  }

  #choice<const T extends string>(raw: unknown, at: string, choices: readonly T[]): T | undefined {
    const found = choices.find((choice) => choice === raw);
    return found ?? this.#reject(at, `is ${shown(raw)}; expected ${choices.join(', ')}`);
  }

  #namespaces(raw: unknown, at: string): readonly string[] | undefined {
    const isValid = Array.isArray(raw) && raw.length > 0 && raw.every((one) => namespace.test(String(one)));
    return isValid ? raw.map(String) : this.#reject(at, `is ${shown(raw)}; expected a list such as [shop, "dev-*"]`);
  }

  #duration(raw: unknown, at: string): number | undefined {
    const ms = typeof raw === 'string' || raw === 0 ? parseDuration(String(raw)) : undefined;
    if (ms !== undefined && ms <= maxForMs) return ms;
    return this.#reject(at, `is ${shown(raw)}; expected a duration of at most 168h, such as 90s or 10m`);
  }

  #reject(at: string, problem: string): undefined {
    this.wrong.push(`${at} ${problem}`);
  }
}

const shown = (raw: unknown): string => (raw === undefined ? 'missing' : JSON.stringify(raw));

const isMap = (raw: unknown): raw is Readonly<Record<string, unknown>> =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw);
