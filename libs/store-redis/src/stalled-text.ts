import { forAllScopes, type GroupState } from '@sluice/store';

/** Names may contain any character, but the text of a state contains no space. */
export const stalledText = (stalled: readonly string[]): string =>
  stalled.length === 0 ? '' : `stalled=${stalled.map(encodeURIComponent).join(',')}`;

/** `states`: those of members, by name. */
export function stalledOf(states: readonly (readonly [string, string])[]): Pick<GroupState, 'stalled'> {
  const stalled = states.flatMap(([member, text]): (readonly [string, readonly string[]])[] => {
    // Members of earlier versions know no other reason.
    if (text === 'disconnected') return [[member, [`${forAllScopes}bus`]]];
    const [kind, names = ''] = text.split('=', 2);
    return kind === 'stalled' ? [[member, names.split(',').map(decoded)]] : [];
  });
  return stalled.length === 0 ? {} : { stalled: new Map(stalled) };
}

/** Another program may have written the text. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
