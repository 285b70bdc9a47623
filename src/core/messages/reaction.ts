/** Tapbacks: the six with a name, and any emoji. */
export const REACTIONS = ['love', 'like', 'dislike', 'laugh', 'emphasize', 'question'] as const
type Named = (typeof REACTIONS)[number]

export interface Reaction {
  /** One of the six names, or an emoji. */
  reaction: string
  remove: boolean
}

const MAX_LENGTH = 64

/** Parses `love`, `-love`, `😀` or `-😀`; a minus removes the reaction. Undefined for anything else. */
export function parseReaction(text: string): Reaction | undefined {
  const remove = text.startsWith('-')
  const reaction = remove ? text.slice(1) : text
  const known = (REACTIONS as readonly string[]).includes(reaction)
  return known || isOneEmoji(reaction) ? { reaction, remove } : undefined
}

// Both tables are loaded on first use: they would be a tenth of a server's start.
let graphemes: Intl.Segmenter | undefined
/** Emoji that Unicode recommends for interchange, including flags and keycaps. */
let recommended: RegExp | undefined
/** Also matches emoji that are newer than Node's tables, by their shape. */
const PICTOGRAPHIC =
  /^\p{Extended_Pictographic}(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\u200d|\ufe0f|[\u{e0020}-\u{e007f}])*$/u

function isOneEmoji(text: string): boolean {
  if (text.length === 0 || text.length > MAX_LENGTH) return false
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  if ([...graphemes.segment(text)].length !== 1) return false
  recommended ??= new RegExp(`^${'\\p{RGI_Emoji}'}$`, 'v')
  return recommended.test(text) || PICTOGRAPHIC.test(text)
}

const ADDED: Record<Named, string> = {
  love: 'Loved',
  like: 'Liked',
  dislike: 'Disliked',
  laugh: 'Laughed at',
  emphasize: 'Emphasized',
  question: 'Questioned',
}
const REMOVED: Record<Named, string> = {
  love: 'a heart',
  like: 'a like',
  dislike: 'a dislike',
  laugh: 'a laugh',
  emphasize: 'an exclamation',
  question: 'a question mark',
}

/** The text of a tapback for recipients who only get texts. */
export function tapbackText(
  { reaction, remove }: Reaction,
  target: { content: string; mediaUrl: string },
): string {
  const what = target.content ? `“${target.content}”` : target.mediaUrl ? 'an image' : 'an attachment'
  const named = reaction as Named
  if (remove) return `Removed ${REMOVED[named] ?? reaction} from ${what}`
  return ADDED[named] ? `${ADDED[named]} ${what}` : `Reacted ${reaction} to ${what}`
}
