import type { Rows } from '../check-values.ts';
import { concepts } from './concepts.ts';
import { decisions } from './decisions.ts';
import { guides } from './guides.ts';
import { measurements } from './measurements.ts';
import { operations } from './operations.ts';
import { reference } from './reference.ts';
import { root } from './root.ts';
import { runbooks } from './runbooks.ts';

/** Every page whose numbers are checked, with what it quotes. */
export const rows: Rows = { ...root, ...concepts, ...guides, ...operations, ...runbooks, ...reference };

/** The same of pages with many numbers that are measured, or were at the time of a decision. */
export const rowsOfOthers: Rows = { ...measurements, ...decisions };
