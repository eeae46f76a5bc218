import { isFencedError, type Store } from './store.ts';

/** The store, calling `onFenced` whenever it rejects a former owner. */
export function countFencedErrors(store: Store, onFenced: () => void): Store {
  const counted = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer;
    } catch (error) {
      if (isFencedError(error)) onFenced();
      throw error;
    }
  };
  return {
    claim: (...args) => counted(store.claim(...args)),
    commit: (...args) => counted(store.commit(...args)),
    setIfAbsent: (...args) => store.setIfAbsent(...args),
    find: (...args) => store.find(...args),
    checkpoint: (...args) => store.checkpoint(...args),
  };
}
