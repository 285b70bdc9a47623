/**
 * Normalises a text for comparison with a send: carriers that return our own messages add control characters,
 * replacement characters and spaces.
 */
export function normalise(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\ufffc\ufffd]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

/** A misread rich text starts with a byte or two of its encoding. */
const GARBLED = /^.{0,3}[\p{Cc}\ufffd]/u
const GARBAGE = 4

/** Whether an inbound text may be an echo of this send. */
export function isCopy(
  send: { content: string; mediaUrl: string },
  came: { content: string; mediaUrl?: string },
): boolean {
  if ((send.mediaUrl === '') !== !came.mediaUrl) return false
  const [sent, got] = [normalise(send.content), normalise(came.content)]
  if (sent === got) return true
  return (
    GARBLED.test(came.content) && sent !== '' && got.endsWith(sent) && got.length - sent.length <= GARBAGE
  )
}
