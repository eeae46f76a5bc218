export { type Mode, type Played, play } from './player.ts';
export { readLines } from './read-lines.ts';
