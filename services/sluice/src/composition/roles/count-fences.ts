import { isFencedError, type Store } from '@sluice/store';

/** The store, with `onFenced` told whenever it refuses somebody who is not the owner any more. */
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
