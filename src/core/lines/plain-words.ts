const MAX_CHARS = 200

/** A carrier's words about a failure, without phone numbers and secrets: they may quote what was sent. */
export function plainWords(text: string, secrets: readonly (string | undefined)[]): string {
  const open = secrets.reduce<string>(
    (left, secret) => (secret ? left.replaceAll(secret, '•••') : left),
    text,
  )
  return open.replace(/\+?\d[\d\s().-]{4,}\d/g, '•••').slice(0, MAX_CHARS)
}
