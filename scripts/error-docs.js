// Writes docs/errors.md from the dictionary of errors. With --check it writes nothing and fails when the file is not up
// to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { DICTIONARY } from '../dist/core/dictionary/dictionary.js'

const FILE = 'docs/errors.md'
const text = [
  '# Errors and verdicts',
  '',
  'Made by `npm run error-docs` from `src/core/dictionary`. Do not edit. Every server has this page at `/docs/errors`.',
  '',
  ...DICTIONARY.flatMap(({ title, about, entries }) => [
    `## ${title}`,
    '',
    about,
    '',
    ...entries.flatMap(({ code, anchor, means, why, next }) => [
      `### <a id="${anchor}"></a>\`${code}\``,
      '',
      means,
      '',
      `**Why it happens.** ${why}`,
      '',
      `**What to do.** ${next}`,
      '',
    ]),
  ]),
].join('\n')

if (!process.argv.includes('--check')) writeFileSync(FILE, text)
else if (readFileSync(FILE, 'utf8') !== text) {
  console.error(`${FILE} is not up to date. Run "npm run error-docs" and commit the result.`)
  process.exitCode = 1
}
