import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..', '..');

/** The package of this checkout that defines each class, by the name of the class. */
export function packagesOfClasses(): ReadonlyMap<string, string> {
  const packages = new Map<string, string>();
  for (const file of globSync('{libs,services,infra}/**/*.ts', {
    cwd: root,
    exclude: (name) => /node_modules|test/.test(name),
  })) {
    const [folder = '', name = ''] = file.split('/');
    for (const [, defined = ''] of readFileSync(join(root, file), 'utf8').matchAll(
      /^(?:export )?(?:abstract )?class (\w+)/gm,
    ))
      packages.set(defined, `${folder}/${name}`);
  }
  return packages;
}
