import type { Outbound } from '../../contract.js'

const MOST_TEXT = 3072
const MOST_DESCRIPTION = 2000
const MOST_CARDS = 10

/** Why RCS at Telnyx cannot carry the message; `tryNextService` if a text message can. */
export interface ContentFault {
  code: string
  detail: string
  tryNextService?: true
}

type Content = Pick<Outbound, 'content' | 'mediaUrl' | 'extra'>

export function contentFault({ content, mediaUrl, extra }: Content): ContentFault | undefined {
  const most = mediaUrl ? MOST_DESCRIPTION : MOST_TEXT
  if ((extra?.mediaUrls?.length ?? 0) > MOST_CARDS)
    return { code: 'carousel', detail: `A carousel by RCS has at most ${MOST_CARDS} images` }
  if (content.length <= most) return undefined
  return { code: 'rcs_text', detail: `A text by RCS has at most ${most} characters`, tryNextService: true }
}

/** The message as Telnyx's `content_message`. */
export function contentOf({ content, mediaUrl, extra }: Content): object {
  if (extra?.mediaUrls)
    return {
      rich_card: {
        carousel_card: { card_width: 'MEDIUM', card_contents: extra.mediaUrls.map((url) => cardOf(url)) },
      },
    }
  if (!mediaUrl) return { text: content }
  if (!content) return { content_info: { file_url: mediaUrl } }
  // A message has either a file or a text, and a card has both.
  return {
    rich_card: {
      standalone_card: {
        card_orientation: 'VERTICAL',
        thumbnail_image_alignment: 'LEFT',
        card_content: { description: content, ...cardOf(mediaUrl) },
      },
    },
  }
}

const cardOf = (url: string) => ({ media: { height: 'MEDIUM', content_info: { file_url: url } } })

/**
 * What Telnyx sends instead, within the same message, to a phone that RCS does not reach. A carousel never becomes a
 * text.
 */
export function fallbackOf({ content, mediaUrl, extra }: Content, from: string): object {
  if (extra?.mediaUrls) return {}
  return mediaUrl
    ? { mms_fallback: { from, ...(content ? { text: content } : {}), media_urls: [mediaUrl] } }
    : { sms_fallback: { from, text: content } }
}
