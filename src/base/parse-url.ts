/**
 * Parses a URL; undefined if the text is not a URL. Does not use URL.canParse: in Node 20, the optimised version
 * rejects every host name with non-ASCII letters.
 */
export function parseUrl(text: string, base?: string | URL): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}
