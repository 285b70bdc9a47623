// Command blocks and examples of the documents, as people copy them.
import { readFileSync } from 'node:fs'

/** The blocks of a language that stand under a heading. */
export function blocksOf(document, heading, language) {
  const section = `\n${readFileSync(document, 'utf8')}`.split(`\n${heading}\n`)[1].split('\n## ')[0]
  return [...section.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, text]) => text,
  )
}

/** The first block of commands under a heading of docs/deploy.md. */
export const deployBlock = (heading) => blocksOf('docs/deploy.md', `## ${heading}`, 'sh')[0]
