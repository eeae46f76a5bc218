/** An operation on an object as its client saw it: it took effect at one moment between call and return, if at all. */
export interface Operation<T> {
  /** Position of the call in the order of all calls and returns. */
  readonly calledAt: number;
  /** Position of the return; infinite if the client never learned the result. */
  readonly returnedAt: number;
  /** What was asked for and what was answered. */
  readonly operation: T;
}

/** What an object does when operations reach it one after another. */
export interface SequentialModel<State, T> {
  readonly initial: State;
  /** The state after the operation; undefined if the object would not have answered so. Without an answer it always returns a state. */
  readonly step: (state: State, operation: T) => State | undefined;
  /** Equal for equal states. */
  readonly keyOf: (state: State) => string;
}

/** A call or a return in a list from which operations are taken out and put back. */
interface Entry<T> {
  readonly index: number;
  readonly operation: T;
  /** Of a call; undefined: this is a return. */
  readonly match: Entry<T> | undefined;
  before: Entry<T> | undefined;
  after: Entry<T> | undefined;
}

/** Many requests without an answer at the same time make a history undecidable in practice. Others need a few hundred. */
const maxExamined = 20_000;

/**
 * Whether there is an order of the operations that the model allows, and in which each operation takes effect between its call and its
 * return. The algorithm of Wing and Gong with the improvements of Lowe, as in Porcupine: it tries operations in the order of their calls, goes
 * back when none is allowed, and never examines the same set of operations with the same state twice. Pass the history of one key at a time: keys are
 * linearizable if each of them is. The problem is NP-complete: a history that is undecided after `maxExamined` sets counts as linearizable.
 */
export function isLinearizable<State, T>(
  { initial, step, keyOf }: SequentialModel<State, T>,
  history: readonly Operation<T>[],
): boolean {
  const head = entriesOf(history);
  const chosen: { readonly call: Entry<T>; readonly state: State }[] = [];
  const examined = new Set<string>();
  let state = initial;
  let linearized = 0n;
  let entry = head?.after;
  while (head?.after !== undefined) {
    const call = entry?.match === undefined ? undefined : entry;
    if (call !== undefined) {
      const next = step(state, call.operation);
      const after = linearized | (1n << BigInt(call.index));
      if (examined.size > maxExamined) return true;
      if (next !== undefined && isNew(examined, `${after.toString(36)} ${keyOf(next)}`)) {
        chosen.push({ call, state });
        [state, linearized] = [next, after];
        take(call);
        entry = head.after;
      } else entry = call.after;
      continue;
    }
    // The next operation has returned, and none of those before it can be the next to take effect.
    const last = chosen.pop();
    if (last === undefined) return false;
    state = last.state;
    linearized &= ~(1n << BigInt(last.call.index));
    putBack(last.call);
    entry = last.call.after;
  }
  return true;
}

function isNew(examined: Set<string>, key: string): boolean {
  if (examined.has(key)) return false;
  examined.add(key);
  return true;
}

/** The calls and returns in their order, after a head that is neither. Undefined if there are none. */
function entriesOf<T>(history: readonly Operation<T>[]): Entry<T> | undefined {
  const positioned = history.flatMap(({ calledAt, returnedAt, operation }, index) => {
    const end: Entry<T> = { index, operation, match: undefined, before: undefined, after: undefined };
    const call: Entry<T> = { index, operation, match: end, before: undefined, after: undefined };
    return [
      { at: calledAt, entry: call },
      { at: returnedAt, entry: end },
    ];
  });
  const [first] = history;
  if (first === undefined) return undefined;
  const { operation } = first;
  const head: Entry<T> = { index: -1, operation, match: undefined, before: undefined, after: undefined };
  let last = head;
  // Infinite positions are equal: their difference is not a number.
  for (const { entry } of positioned.sort((a, b) => (a.at === b.at ? 0 : a.at - b.at))) {
    last.after = entry;
    entry.before = last;
    last = entry;
  }
  return head;
}

/** Takes an operation out of the list. */
function take<T>(call: Entry<T>): void {
  for (const entry of [call, call.match]) {
    if (entry?.before) entry.before.after = entry.after;
    if (entry?.after) entry.after.before = entry.before;
  }
}

/** Puts it back, in the reverse order. */
function putBack<T>(call: Entry<T>): void {
  for (const entry of [call.match, call]) {
    if (entry?.before) entry.before.after = entry;
    if (entry?.after) entry.after.before = entry;
  }
}
