/**
 * The URL in a text, if it is one. Not by URL.canParse: once it is optimised, Node 20's says no to every name with
 * letters beyond Latin-1's first half.
 */
export function parseUrl(text: string, base?: string | URL): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}
