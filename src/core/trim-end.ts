/** Removes these characters from the end. A pattern like `/[.]+$/` takes quadratic time on some texts. */
export function trimEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1]!)) end--
  return text.slice(0, end)
}
