import { useEffect, useState } from 'preact/hooks';
import { html } from '../html.ts';

const shownMs = 2_000;

interface CopyButtonProps {
  /** What the button says that it copies. */
  readonly what: string;
  readonly text: string;
  readonly title: string;
}

/** Copies a text, for an incident chat or a terminal. */
export function CopyButton({ what, text, title }: CopyButtonProps) {
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setIsCopied(false), shownMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  // Only pages on loopback or with TLS may write to it.
  if (navigator.clipboard === undefined) return null;
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setIsCopied(true),
      () => {},
    );
  return html`<button class="button" aria-live="polite" onClick=${copy} title=${title}>
    ${isCopied ? 'copied' : `copy ${what}`}
  </button>`;
}
