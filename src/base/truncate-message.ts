/** Longer messages quote long names and values of the request, or many conflicts. */
const maxMessageCharacters = 1_000;

/** Cuts a long message and marks the cut with an ellipsis. */
export function truncateMessage(message: string): string {
  return message.length > maxMessageCharacters ? `${message.slice(0, maxMessageCharacters)}…` : message;
}
