/**
 * A text as it compares with what we sent: carriers that hand back our own messages add control characters,
 * replacement characters and spaces of their own.
 */
export function comparable(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\ufffc\ufffd]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Whether what came in may be a copy of this send. */
export function isCopy(
  send: { content: string; mediaUrl: string },
  came: { content: string; mediaUrl?: string },
): boolean {
  return comparable(send.content) === comparable(came.content) && (send.mediaUrl === '') === !came.mediaUrl
}
