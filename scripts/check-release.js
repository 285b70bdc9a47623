// Exits with 1 and says why, unless the given tag is that of this version and the changelog has the day of its release.
import { readFileSync } from 'node:fs'

const tag = process.argv[2]
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const [heading] = /^## .*$/m.exec(readFileSync('CHANGELOG.md', 'utf8')) ?? ['']

if (tag !== `v${version}`) refuse(`The tag is ${tag}, but package.json has the version ${version}.`)
if (!heading.startsWith(`## [${version}] - `))
  refuse(`CHANGELOG.md begins with "${heading}", not with the version ${version}.`)
if (!/ - \d{4}-\d{2}-\d{2}$/.test(heading)) refuse(`CHANGELOG.md has no date for ${version}: "${heading}".`)

function refuse(reason) {
  console.error(reason)
  process.exitCode = 1
}
