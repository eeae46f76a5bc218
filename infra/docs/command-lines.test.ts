import { expect, test } from 'vitest';
import { commandLines, commandsOf } from './command-lines.ts';

test.each([
  ['sluice run --for 20s   # a comment', [['sluice', 'run', '--for', '20s']]],
  [
    "node_modules/.bin/x --context '*' | head -n 1",
    [
      ['node_modules/.bin/x', '--context', '*'],
      ['head', '-n', '1'],
    ],
  ],
  ['A=1 B=… users.sh sluice 16 >> users.conf', [['users.sh', 'sluice', '16']]],
  [
    'source <(sluice completion bash)',
    [
      ['source', '…'],
      ['sluice', 'completion', 'bash'],
    ],
  ],
  ['x < in.jsonl > out.jsonl && y "two words"', [['x'], ['y', 'two words']]],
])('%s', (line, commands) => {
  expect(commandsOf(line)).toEqual(commands);
});

const page = `# sluice doctor

Run \`sluice doctor\` or \`sluice
capacity --fleets 2\`.

    $ sluice run \\
        --for 20s
    sluice_metric 1

\`\`\`yaml
sluice: no command
\`\`\`

\`\`\`sh
helm install x <<EOF
sluice inside
EOF
sluice config
\`\`\`
`;

test('commands are those of shell blocks and inline code, with their lines', () => {
  const found = commandLines({ path: 'a.md', text: page }, (program) => program === 'sluice');
  expect(found.map(({ line, words }) => `${line} ${words.join(' ')}`)).toEqual([
    '3 sluice doctor',
    '3 sluice capacity --fleets 2',
    '6 sluice run --for 20s',
    '18 sluice config',
  ]);
});
