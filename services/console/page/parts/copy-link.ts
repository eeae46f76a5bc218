import { useEffect, useState } from 'preact/hooks';
import { html } from '../html.ts';

const shownMs = 2_000;

/** Copies the address of this view, which does not change as time passes, for an incident chat. */
export function CopyLink({ path }: { path: string }) {
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setIsCopied(false), shownMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  // Only pages on loopback or with TLS may write to it.
  if (navigator.clipboard === undefined) return null;
  const copy = () =>
    navigator.clipboard.writeText(new URL(path, location.origin).href).then(
      () => setIsCopied(true),
      () => {},
    );
  return html`<button class="button" aria-live="polite" onClick=${copy} title="a link to this view at this time">
    ${isCopied ? 'copied' : 'copy link'}
  </button>`;
}
