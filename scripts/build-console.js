// Builds the console into dist/console, unless the output is newer than all of its sources.
import { modified, newest } from './age.js'

const OUTPUT = 'dist/console/index.html'

// The console imports pure rules from src/core.
const sources = Math.max(newest('console'), newest('src/core'), modified('package-lock.json'))
if (sources > modified(OUTPUT)) {
  // Whatever started this: tests call it, too, and must see what users get.
  process.env.NODE_ENV = 'production'
  const { build } = await import('vite')
  await build({ configFile: 'console/vite.config.js', mode: 'production' })
}
