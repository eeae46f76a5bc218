import { useLayoutEffect, useRef } from 'preact/hooks';

/** Keys and their actions, for the help. */
export const keyHelp: readonly (readonly [string, string])[] = [
  ['/', 'search'],
  ['j  k', 'next, previous Service'],
  ['Enter', 'open Service'],
  ['Esc', 'back'],
  ['←  →', 'previous, next change'],
  ['l', 'back to now'],
  ['+  −  0', 'zoom in, zoom out, all of the history'],
  ['↑ ↓ ← →', 'next cell of a map'],
  ['c', 'clusters'],
  ['g', 'fleet'],
  ['t', 'switch theme'],
  ['?', 'keys and signs'],
];

/** Handles keys outside of text fields. `first`: runs before other handlers of the key and suppresses them. */
export function useKeys(handlers: Readonly<Record<string, () => void>>, { first = false } = {}): void {
  // A key pressed before effects have run must use the handlers of the last rendering.
  const latest = useRef(handlers);
  latest.current = handlers;
  // A layout effect, because the next key may follow the rendering immediately.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || isForTarget(event)) return;
      const handler = latest.current[event.key];
      if (handler === undefined) return;
      event.preventDefault();
      if (first) event.stopImmediatePropagation();
      handler();
    };
    addEventListener('keydown', onKey, first);
    return () => removeEventListener('keydown', onKey, first);
  }, [first]);
}

/** Whether the focused element handles the key itself: a text field every key but Esc, a button or link Enter. */
function isForTarget({ target, key }: KeyboardEvent): boolean {
  if (target instanceof HTMLInputElement && target.type !== 'range') return key !== 'Escape';
  if (target instanceof HTMLSelectElement) return key !== 'Escape';
  return key === 'Enter' && target instanceof Element && target.closest('button, a') !== null;
}
