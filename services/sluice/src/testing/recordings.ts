export { openRecording } from '../composition/open-recording.ts';
