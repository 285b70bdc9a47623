/** A question for whoever mistyped one of the names; empty if none is near. */
export function didYouMean(typed: string, names: readonly string[]): string {
  const mostly = Math.max(1, Math.floor(typed.length / 3))
  const [best] = names
    .map((name) => ({ name, edits: editsBetween(typed, name) }))
    .filter(({ edits }) => edits <= mostly)
    .sort((a, b) => a.edits - b.edits)
  return best ? ` Did you mean "${best.name}"?` : ''
}

/** How many letters must be added, removed, replaced or swapped with their neighbour. */
function editsBetween(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? rows[i - 2]![j - 2]! + 1 : Infinity
      row.push(Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, replaced, swapped))
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}
