// What the compiler leaves behind: files beside the code that reads them.
import { cpSync, rmSync } from 'node:fs'

for (const folder of ['storage/migrations', 'api/verify/widget']) {
  // A file that is gone must not stay: a migration would still be run.
  rmSync(`dist/${folder}`, { recursive: true, force: true })
  cpSync(`src/${folder}`, `dist/${folder}`, { recursive: true })
}
