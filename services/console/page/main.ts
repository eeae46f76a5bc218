import { render } from 'preact';
import { App } from './app.ts';
import { html } from './html.ts';
import { openStream } from './stream.ts';

const root = document.getElementById('page');
if (root !== null) {
  root.replaceChildren();
  openStream();
  render(html`<${App} />`, root);
}
