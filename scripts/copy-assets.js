// Copies files that the compiler does not: data beside the code that reads it.
import { cpSync, rmSync } from 'node:fs'

for (const folder of ['storage/migrations', 'api/verify/widget', 'cli/new/bot']) {
  // Deleted files must go, too: an old migration would still run.
  rmSync(`dist/${folder}`, { recursive: true, force: true })
  cpSync(`src/${folder}`, `dist/${folder}`, { recursive: true })
}
