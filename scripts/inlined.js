// The API document with every reference replaced by what it refers to.
export function inlined(document) {
  const visit = (part) => {
    if (Array.isArray(part)) return part.map(visit)
    if (typeof part !== 'object' || part === null) return part
    const { $ref, ...beside } = part
    if (typeof $ref === 'string') return { ...visit(target(document, $ref)), ...beside }
    return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, visit(value)]))
  }
  return visit(document)
}

function target(document, ref) {
  const found = ref
    .split('/')
    .slice(1)
    .reduce((part, name) => part?.[name], document)
  if (found === undefined) throw new Error(`${ref} refers to nothing`)
  return found
}
