import type { Message } from '@sluice/messages';

/** What a message contains, as KIND/NAME. */
export function objectsOf(message: Message): readonly string[] {
  switch (message.kind) {
    case 'change':
      return message.facts.map((fact) => ('name' in fact ? `${fact.kind}/${fact.name}` : fact.kind));
    case 'mutations':
    case 'outcome':
      return [`${message.kind}/${message.controller}`];
    default:
      return [message.kind];
  }
}

/** What a message says, for people. */
export function textOf(message: Message): string {
  switch (message.kind) {
    case 'change':
      return message.causes.first.map(({ description }) => description).join('; ');
    case 'mutations':
      return `${message.controller}: decided`;
    case 'outcome':
      return `${message.controller}: ${message.results.map(({ status }) => status).join(', ')}`;
    default:
      return message.kind;
  }
}
