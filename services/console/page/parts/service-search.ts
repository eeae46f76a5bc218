import type { RefObject } from 'preact';
import { html } from '../html.ts';

interface ServiceSearchProps {
  readonly input: RefObject<HTMLInputElement>;
  readonly q: string;
  readonly search: (q: string) => void;
  /** Enter or the down arrow leaves the field for the first Service. */
  readonly selectFirst: () => void;
}

/** The field that searches Services by namespace and name. */
export function ServiceSearch({ input, q, search, selectFirst }: ServiceSearchProps) {
  const leave = ({ key }: KeyboardEvent) => {
    if (key !== 'Enter' && key !== 'ArrowDown') return;
    input.current?.blur();
    selectFirst();
  };
  return html`<input
    ref=${input}
    type="search"
    placeholder="namespace/name  ( / )"
    aria-label="search Services"
    value=${q}
    onInput=${(event: InputEvent) => search((event.target as HTMLInputElement).value.trim())}
    onKeyDown=${leave}
  />`;
}
