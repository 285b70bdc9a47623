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

/** How the reading of a rich text fails: it leaves a byte or two of the text's own bookkeeping before it. */
const GARBLED = /^.{0,3}[\p{Cc}\ufffd]/u
const GARBAGE = 4

/** Whether what came in may be a copy of this send. */
export function isCopy(
  send: { content: string; mediaUrl: string },
  came: { content: string; mediaUrl?: string },
): boolean {
  if ((send.mediaUrl === '') !== !came.mediaUrl) return false
  const [sent, got] = [comparable(send.content), comparable(came.content)]
  if (sent === got) return true
  return (
    GARBLED.test(came.content) && sent !== '' && got.endsWith(sent) && got.length - sent.length <= GARBAGE
  )
}
