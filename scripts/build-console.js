// Builds the console into dist/console, unless the output is newer than all of its sources.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const OUTPUT = 'dist/console/index.html'

// The console imports pure rules from src/core.
const sources = Math.max(newest('console'), newest('src/core'), modified('package-lock.json'))
if (sources > modified(OUTPUT)) {
  // Whatever started this: tests call it, too, and must see what users get.
  process.env.NODE_ENV = 'production'
  const { build } = await import('vite')
  await build({ configFile: 'console/vite.config.js', mode: 'production' })
}

function newest(folder) {
  return Math.max(
    ...readdirSync(folder, { withFileTypes: true }).map((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? Math.max(modified(path), newest(path)) : modified(path)
    }),
  )
}

function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
