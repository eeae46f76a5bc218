import { useEffect } from 'preact/hooks';

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

/** Calls the handler of a key that is pressed outside of a text field. */
export function useKeys(handlers: Readonly<Record<string, () => void>>, dependencies: readonly unknown[]): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey) return;
      const { target } = event;
      const typing = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
      if (typing && event.key !== 'Escape') return;
      const handler = handlers[event.key];
      if (handler === undefined) return;
      event.preventDefault();
      handler();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, dependencies as unknown[]);
}
