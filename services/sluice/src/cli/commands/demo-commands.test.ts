import { expect, test } from 'vitest';
import { defaultUrl } from './client-for.ts';
import { demoCommands } from './demo-commands.ts';

const demo = { commands: ['explain shop/cart'], kubectl: ['kubectl get pods'], happening: () => '' };

test.each([
  [defaultUrl, ['  bin/sluice explain shop/cart', '  kubectl get pods']],
  ['http://[::1]:9', ['  bin/sluice explain shop/cart --console http://[::1]:9', '  kubectl get pods']],
  [undefined, ['  kubectl get pods']],
])('with a console at %s', (page, expected) => {
  expect(demoCommands(demo, page)).toEqual(['', 'To try in another terminal:', ...expected]);
});
