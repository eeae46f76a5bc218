import type { Plugin } from 'rolldown';

/** By convention, no file has a name that begins so. */
const virtual = '\0';

/**
 * Takes of Node's own modules what is used, and no more. To `import` one evaluates all that it exports, and behind some of
 * that is another module, which Node loads when it is asked for: `node:http` brings HTTP/2 and Node's copy of undici with
 * it, for the sake of its WebSocket.
 */
export function builtins(): Plugin {
  return {
    name: 'builtins',
    resolveId: {
      filter: { id: /^node:/ },
      handler: (id, _importer, { kind }) => (kind === 'require-call' ? null : virtual + id),
    },
    load: {
      filter: { id: /^\0node:/ },
      handler: (id) => ({ code: moduleOf(id.slice(virtual.length)), moduleSideEffects: false }),
    },
  };
}

/** Marked as pure, what nobody imports is left out. */
function moduleOf(name: string): string {
  const all = process.getBuiltinModule(name);
  if (all === undefined) throw new Error(`this Node has no module ${name}`);
  const each = Object.keys(all)
    .filter((key) => key !== 'default')
    .map((key, i) => {
      const text = JSON.stringify(key);
      return `const export${i} = /* @__PURE__ */ (() => builtin[${text}])();\nexport { export${i} as ${text} };`;
    });
  return [
    `const builtin = process.getBuiltinModule(${JSON.stringify(name)});`,
    'export default builtin;',
    ...each,
  ].join('\n');
}
