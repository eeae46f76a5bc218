import { type Commit, MemoryStore, type ScopeState } from '@sluice/store';

/** A store whose next commit can fail before or after it is applied, and whose claims can report lost data. */
export class FaultyStore extends MemoryStore {
  fails: 'before' | 'after' | undefined;
  intact = true;
  readonly commits: Commit[] = [];

  override async claim(scope: string, epoch: number): Promise<ScopeState> {
    return { ...(await super.claim(scope, epoch)), intact: this.intact };
  }

  override async commit(commit: Commit): Promise<void> {
    const { fails } = this;
    this.fails = undefined;
    if (fails === 'before') throw new Error('no connection');
    await super.commit(commit);
    this.commits.push(commit);
    if (fails === 'after') throw new Error('no answer');
  }
}
