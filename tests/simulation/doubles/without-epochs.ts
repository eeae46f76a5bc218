import type { Store } from '@sluice/store';

/** A store that does not tell a watcher the last Change of the one before it, so that no gap between them shows. */
export const withoutEpochs = (store: Store): Store => ({
  claim: async (scope, fencingToken) => {
    const state = await store.claim(scope, fencingToken);
    return { ...state, entries: state.entries.filter(({ field }) => !field.startsWith('lastStamp/')) };
  },
  commit: (commit) => store.commit(commit),
  find: (...args) => store.find(...args),
  setIfAbsent: (...args) => store.setIfAbsent(...args),
  checkpoint: (scope) => store.checkpoint(scope),
});
