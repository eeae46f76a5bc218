import htm from 'htm';
import { h, type VNode } from 'preact';

type Content = VNode | readonly Content[] | string | number | null | undefined | false;

export type { Content };

/** Templates instead of JSX, so that the browser runs the files as they are. Text is always text, never markup. */
export const html = htm.bind(h) as (strings: TemplateStringsArray, ...values: unknown[]) => VNode;
