/** One of the six drawn tapbacks, or an emoji. */
export function Tapback({ reaction }: { reaction: string }) {
  switch (reaction) {
    case 'love':
      return (
        <svg viewBox="0 0 16 16" className="glyph love" aria-hidden="true">
          <path d="M8 14S2 10.2 2 6.2A3.2 3.2 0 0 1 8 4.6a3.2 3.2 0 0 1 6 1.6C14 10.2 8 14 8 14z" />
        </svg>
      )
    case 'like':
    case 'dislike':
      return (
        <svg viewBox="0 0 16 16" className={`glyph ${reaction}`} aria-hidden="true">
          <path d="M2 7.5h2.2v6H2zM5.2 7.3 8 2.3c1.3 0 1.7.9 1.5 1.9L9 6.5h3.6c.9 0 1.5.8 1.3 1.7l-.9 4.1c-.2.8-.8 1.2-1.5 1.2H7.2c-.8 0-1.5-.3-2-.8z" />
        </svg>
      )
    case 'laugh':
      return <span className="glyph text-glyph">HA HA</span>
    case 'emphasize':
      return <span className="glyph strong-glyph">!!</span>
    case 'question':
      return <span className="glyph strong-glyph">?</span>
    default:
      return <span className="glyph">{reaction}</span>
  }
}
