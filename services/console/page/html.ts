import htm from 'htm';
import { h, type VNode } from 'preact';

/** Templates instead of JSX, so that the page needs no build. Values are inserted as text, never as markup. */
export const html = htm.bind(h) as (strings: TemplateStringsArray, ...values: unknown[]) => VNode;
