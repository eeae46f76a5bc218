type Labels = Readonly<Record<string, string>>;
type Requirement = (labels: Labels) => boolean;

/**
 * Whether labels match a label selector as kubectl writes it: `app=web`, `app==web`, `app!=web`, `app in (a,b)`,
 * `app notin (a,b)`, `app` and `!app`, separated by commas. Undefined if the text is none.
 */
export function parseLabelSelector(text: string): Requirement | undefined {
  const requirements: Requirement[] = [];
  for (const part of partsOf(text)) {
    const requirement = toRequirement(part.trim());
    if (requirement === undefined) return undefined;
    requirements.push(requirement);
  }
  return (labels) => requirements.every((matches) => matches(labels));
}

/** A comma between parentheses separates values. */
function partsOf(text: string): readonly string[] {
  const parts = [''];
  let isInside = false;
  for (const character of text) {
    if (character === '(' || character === ')') isInside = character === '(';
    if (character === ',' && !isInside) parts.push('');
    else parts.push(`${parts.pop()}${character}`);
  }
  return parts;
}

const isKey = (text: string): boolean => /^[\w./-]+$/.test(text);
const isValue = (text: string): boolean => /^[\w.-]*$/.test(text);

function toRequirement(text: string): Requirement | undefined {
  const [, ofSet = '', set, values = ''] = /^([\w./-]+) (in|notin) ?\(([^()]*)\)$/.exec(text) ?? [];
  if (set !== undefined) return requirement(ofSet, values.split(','), set === 'notin');
  const equals = text.indexOf('=');
  if (equals >= 0) {
    const isNegated = text[equals - 1] === '!';
    const key = text.slice(0, isNegated ? equals - 1 : equals);
    return requirement(key, [text.slice(text[equals + 1] === '=' ? equals + 2 : equals + 1)], isNegated);
  }
  const key = text.startsWith('!') ? text.slice(1).trim() : text;
  if (!isKey(key)) return undefined;
  return (labels) => Object.hasOwn(labels, key) === (key === text);
}

/** As in Kubernetes, an absent label differs from every value. */
function requirement(key: string, values: readonly string[], isNegated: boolean): Requirement | undefined {
  const name = key.trim();
  const wanted = new Set(values.map((value) => value.trim()));
  if (!isKey(name) || ![...wanted].every(isValue)) return undefined;
  return ({ [name]: label }) => (label !== undefined && wanted.has(label)) !== isNegated;
}
