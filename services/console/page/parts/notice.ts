import type { ApiProblem } from '../api.ts';
import { withLocalTimes } from '../format.ts';
import { html } from '../html.ts';

export function Loading({ what }: { what: string }) {
  return html`<p class="notice" role="status">Loading ${what}…</p>`;
}

export function Failed({ problem, children }: { problem: ApiProblem; children?: unknown }) {
  return html`<div class="notice failed" role="alert">
    <strong>${withLocalTimes(problem.message)}</strong><span>${problem.hint}</span>${children}
  </div>`;
}

export function Empty({ title, children }: { title: string; children?: unknown }) {
  return html`<div class="notice"><strong>${title}</strong><span>${children}</span></div>`;
}
