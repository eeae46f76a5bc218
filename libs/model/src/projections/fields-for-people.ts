import type { Fields } from './fields.ts';

/** Limit of each text, in characters. */
const maxText = 200;

/** Fields that no controller needs. A wrong one is left out, rather than making the object malformed. */
export const fields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
export const list = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fields) : []);
export const text = (value: unknown): string => (typeof value === 'string' ? value.slice(0, maxText) : '');
export const number = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);

export const inParentheses = (reason: unknown): string => (text(reason) === '' ? '' : ` (${text(reason)})`);
