/** The metrics that an expression of Prometheus reads, and the labels it needs of them. */
export interface Reading {
  /** Names of metrics, with the matchers of each. */
  metrics: { name: string; matchers: { label: string; operator: string; value: string }[] }[]
  /** Labels that it groups or joins by: every metric must have them. */
  groups: string[]
}

const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g
const OPERATORS = new Set(['and', 'or', 'unless', 'bool', 'offset', 'inf', 'nan'])
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g

/** Reads an expression without names in strings, which ours have only as values of labels. */
export function readingOf(expression: string): Reading {
  const groups = [...expression.matchAll(GROUPING)].flatMap(([, labels]) =>
    labels!.split(',').map((label) => label.trim()),
  )
  const bare = expression
    .replace(GROUPING, ' ')
    .replace(/\[[^\]]*\]/g, ' ')
    .replace(/(?<![\w"])\d[\w.]*(?![\w"])/g, ' ')
  const metrics = [...bare.matchAll(/([a-zA-Z_:][\w:]*)\s*(\{[^}]*\})?(\s*\()?/g)]
    .filter(([, name, , isCall]) => !isCall && !OPERATORS.has(name!))
    .map(([, name, inside = '']) => ({
      name: name!,
      matchers: [...inside.matchAll(MATCHER)].map(([, label, operator, value]) => ({
        label: label!,
        operator: operator!,
        value: value!,
      })),
    }))
  return { metrics, groups: [...new Set(groups)] }
}

/** Labels of all samples of a scrape, by the names of the metrics. */
export function samplesIn(scrape: string): Map<string, Record<string, string>[]> {
  const samples = new Map<string, Record<string, string>[]>()
  for (const [, name, labels = ''] of scrape.matchAll(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/gm)) {
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, value]) => [label, value])
    samples.set(name!, [...(samples.get(name!) ?? []), Object.fromEntries(pairs)])
  }
  return samples
}
