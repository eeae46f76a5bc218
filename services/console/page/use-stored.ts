import { useState } from 'preact/hooks';

/** A choice that this browser remembers; null: none was made. */
export function useStored(name: string): readonly [string | null, (value: string) => void] {
  const [value, setValue] = useState(() => localStorage.getItem(name));
  const store = (chosen: string) => {
    localStorage.setItem(name, chosen);
    setValue(chosen);
  };
  return [value, store];
}
