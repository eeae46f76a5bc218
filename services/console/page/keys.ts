import { useLayoutEffect, useRef } from 'preact/hooks';

/** Keys and what they do, for the page's help. */
export const keyHelp: readonly (readonly [string, string])[] = [
  ['/', 'search'],
  ['j  k', 'next, previous Service'],
  ['Enter', 'open it'],
  ['Esc', 'back'],
  ['←  →', 'the change before, after'],
  ['l', 'back to now'],
  ['g', 'fleet'],
  ['t', 'dark or light'],
  ['?', 'these keys'],
];

/**
 * Calls the handler of a key that is pressed outside of a text field. `first`: before any other handler, which then
 * does not hear of it.
 */
export function useKeys(handlers: Readonly<Record<string, () => void>>, { first = false } = {}): void {
  // Those of the last rendering: a key that is pressed before effects ran must not act on what was there before.
  const latest = useRef(handlers);
  latest.current = handlers;
  // Together with what is on the screen, not some time after it: the next key may come at once.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || isForTarget(event)) return;
      const handler = latest.current[event.key];
      if (handler === undefined) return;
      event.preventDefault();
      if (first) event.stopImmediatePropagation();
      handler();
    };
    addEventListener('keydown', pressed, first);
    return () => removeEventListener('keydown', pressed, first);
  }, [first]);
}

/** Whether what has the focus takes the key itself: a text field all but Esc, a button or link Enter. */
function isForTarget({ target, key }: KeyboardEvent): boolean {
  if (target instanceof HTMLInputElement && target.type !== 'range') return key !== 'Escape';
  if (target instanceof HTMLSelectElement) return key !== 'Escape';
  return key === 'Enter' && target instanceof Element && target.closest('button, a') !== null;
}
