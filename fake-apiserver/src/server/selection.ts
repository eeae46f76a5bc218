import type { StoredObject } from './object.ts';
import { badRequest } from './status.ts';

/** Filter of a list or watch. Absent fields match everything. */
export interface Selection {
  readonly namespace?: string;
  readonly name?: string;
  /** All requirements must match. */
  readonly labels?: readonly LabelRequirement[];
}

export interface LabelRequirement {
  readonly key: string;
  readonly operator: '=' | '!=' | 'exists' | 'absent';
  readonly value: string;
}

export function selects(selection: Selection, object: StoredObject): boolean {
  const { metadata } = object;
  if (selection.namespace !== undefined && metadata.namespace !== selection.namespace) return false;
  if (selection.name !== undefined && metadata.name !== selection.name) return false;
  return (selection.labels ?? []).every((requirement) => meets(requirement, metadata.labels?.[requirement.key]));
}

function meets(requirement: LabelRequirement, value: string | undefined): boolean {
  switch (requirement.operator) {
    case '=':
      return value === requirement.value;
    case '!=':
      return value !== requirement.value;
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
  }
}

/** Parses an equality-based label selector: `a=b,c!=d,e,!f`. Throws 400 on anything else. */
export function parseLabelSelector(text: string): readonly LabelRequirement[] {
  if (text.trim() === '') return [];
  return text.split(',').map((part) => {
    const [, negated, key, operator, value] = /^\s*(!?)\s*([\w./-]+)\s*(?:(==?|!=)\s*([\w.-]*)\s*)?$/.exec(part) ?? [];
    if (key === undefined || (negated === '!' && operator !== undefined))
      throw badRequest(`unable to parse requirement: found '${part}'`);
    if (operator === undefined) return { key, operator: negated === '!' ? 'absent' : 'exists', value: '' };
    return { key, operator: operator === '!=' ? '!=' : '=', value: value ?? '' };
  });
}

/** Parses a field selector; supports only `metadata.name=…` and `metadata.namespace=…`. Throws 400 on anything else. */
export function parseFieldSelector(text: string): Pick<Selection, 'name' | 'namespace'> {
  const selection: { name?: string; namespace?: string } = {};
  for (const part of text.split(',').filter((piece) => piece !== '')) {
    const [, field, value] = /^metadata\.(name|namespace)==?(.*)$/.exec(part) ?? [];
    if (value === undefined) throw badRequest(`field label not supported: ${part}`);
    selection[field === 'name' ? 'name' : 'namespace'] = value;
  }
  return selection;
}
