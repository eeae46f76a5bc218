import type { Message, ResyncRequest } from '@sluice/messages';
import { type FieldContext, type FieldRule, fieldRules } from './field-rules.ts';
import type { Pseudonyms } from './pseudonyms.ts';
import { redactLabels } from './redact-labels.ts';

/** A message of a recording without names, addresses, labels and texts of the cluster. What is unknown is left out. */
export function redactMessage<M extends Exclude<Message, ResyncRequest>>(message: M, to: Pseudonyms): M {
  return redactObject(message, '', to) as M;
}

function redactObject(object: object, field: string, to: Pseudonyms): object {
  const context = { field, kind: 'kind' in object && typeof object.kind === 'string' ? object.kind : '' };
  return Object.fromEntries(
    Object.entries(object).flatMap(([name, value]) => {
      const rule = fieldRules.get(name);
      return rule === undefined || rule === 'omitted' ? [] : [[name, redactValue(value, { name, rule, context }, to)]];
    }),
  );
}

interface FieldOfObject {
  readonly name: string;
  readonly rule: FieldRule;
  readonly context: FieldContext;
}

function redactValue(value: unknown, field: FieldOfObject, to: Pseudonyms): unknown {
  const { name, rule, context } = field;
  if (rule === 'plain') return value;
  if (typeof value === 'string') return typeof rule === 'function' ? rule(value, to, context) : to.text(value, 'value');
  if (Array.isArray(value)) return value.map((one) => redactValue(one, field, to));
  if (typeof value !== 'object' || value === null) return value;
  if (rule === 'labels') return redactLabels(value, to);
  if (rule === 'zones') return Object.fromEntries(Object.entries(value).map(([zone, n]) => [to.text(zone, 'zone'), n]));
  return redactObject(value, name, to);
}
