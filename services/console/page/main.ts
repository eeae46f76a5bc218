import { render } from 'preact';
import { App } from './app.ts';
import { html } from './html.ts';
import { startLive } from './live.ts';

const root = document.getElementById('page');
if (root !== null) {
  root.replaceChildren();
  startLive();
  render(html`<${App} />`, root);
}
