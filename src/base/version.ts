import { readFileSync } from 'node:fs'

/** The package's own version. The file is one level up from both src/ and dist/. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version
