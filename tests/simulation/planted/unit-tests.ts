import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { type PlantedBug, variable } from '@sluice/program/planted-bug';

const root = join(import.meta.dirname, '../../..');
const [vitest, config] = [join(root, 'node_modules/vitest/vitest.mjs'), join(import.meta.dirname, 'vitest.config.ts')];

/** The part of the repository that a file is in: `libs/bus`. */
export const roomOf = ({ file }: Pick<PlantedBug, 'file'>): string => file.split('/').slice(0, 2).join('/');

/** Whether a unit test of the room fails with the bug, or without any if there is none. */
export function failUnitTests(room: string, bug?: PlantedBug): Promise<boolean> {
  const child = spawn(process.execPath, [vitest, 'run', '--config', config, '--bail', '1', `${room}/`], {
    cwd: root,
    stdio: 'ignore',
    env: { ...process.env, ...(bug && { [variable]: JSON.stringify(bug) }) },
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code !== 0));
  });
}
