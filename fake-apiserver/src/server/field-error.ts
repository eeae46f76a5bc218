import { qualified, type ResourceInfo } from './resources.ts';
import { StatusError } from './status.ts';

/** A violated validation rule. */
export interface FieldError {
  readonly field: string;
  readonly reason:
    | 'FieldValueRequired'
    | 'FieldValueInvalid'
    | 'FieldValueNotSupported'
    | 'FieldValueTooMany'
    | 'FieldValueDuplicate';
  readonly text: string;
}

export function required(field: string, detail = ''): FieldError {
  return { field, reason: 'FieldValueRequired', text: joined('Required value', detail) };
}

export function invalid(field: string, value: unknown, detail: string): FieldError {
  return { field, reason: 'FieldValueInvalid', text: joined(`Invalid value: ${JSON.stringify(value)}`, detail) };
}

export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const values = supported.map((text) => JSON.stringify(text)).join(', ');
  const text = `Unsupported value: ${JSON.stringify(value)}: supported values: ${values}`;
  return { field, reason: 'FieldValueNotSupported', text };
}

export function tooMany(field: string, count: number, max: number): FieldError {
  const text = `Too many: ${count}: must have at most ${max} items`;
  return { field, reason: 'FieldValueTooMany', text };
}

export function duplicate(field: string, value: unknown): FieldError {
  return { field, reason: 'FieldValueDuplicate', text: `Duplicate value: ${JSON.stringify(value)}` };
}

function joined(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${detail}`;
}

/** 422 Invalid, with a cause for each violated rule. */
export function invalidObject(info: ResourceInfo, name: string, errors: readonly FieldError[]): StatusError {
  const texts = [...new Set(errors.map((error) => `${error.field}: ${error.text}`))];
  const why = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return new StatusError(422, 'Invalid', `${qualified(info, 'kind')} "${name}" is invalid: ${why}`, {
    name,
    ...(info.group === '' ? {} : { group: info.group }),
    kind: info.kind,
    causes: errors.map(({ field, reason, text }) => ({ reason, message: text, field })),
  });
}
