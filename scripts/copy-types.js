// Copies the types that users import, and the types which these import, to dist/types. The package has no others.
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import typescript from 'typescript'

const copied = new Set()
rmSync('dist/types', { recursive: true, force: true })
for (const entry of ['dist/testing/trunkline.d.ts', 'dist/drivers/kit.d.ts']) copy(entry)

function copy(file) {
  if (copied.has(file)) return
  copied.add(file)
  cpSync(file, join('dist/types', relative('dist', file)))
  for (const { fileName } of typescript.preProcessFile(readFileSync(file, 'utf8')).importedFiles)
    if (fileName.startsWith('.')) copy(join(dirname(file), fileName.replace(/\.js$/, '.d.ts')))
}
