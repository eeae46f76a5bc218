/**
 * The environment in which all programs agree on colors. Each decides with its own rules, and some write escape codes to
 * files. FORCE_COLOR decides, then NO_COLOR, then whether the output is a terminal.
 * `piped`: the program writes to a pipe whose content goes to that output.
 */
export function withColorSetting(environment, { terminal, piped = false }) {
  const { FORCE_COLOR, NO_COLOR, ...rest } = environment;
  if (!colored(environment, terminal)) return { ...rest, NO_COLOR: '1' };
  if (FORCE_COLOR) return { ...rest, FORCE_COLOR };
  // A program that writes to the terminal itself sees it. Its tests would take FORCE_COLOR as theirs.
  return FORCE_COLOR === '' || piped ? { ...rest, FORCE_COLOR: '1' } : rest;
}

function colored({ FORCE_COLOR, NO_COLOR, TERM }, terminal) {
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  return !NO_COLOR && terminal && TERM !== 'dumb';
}
