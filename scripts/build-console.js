// Builds the console into dist/console, unless the output is newer than all of its sources.
import { modified, newest } from './age.js'

const OUTPUT = 'dist/console/index.html'

// The console imports pure rules from src/core.
const sources = Math.max(newest('console'), newest('src/core'), modified('package-lock.json'))
if (sources > modified(OUTPUT)) {
  // Tests run this script, too, and must see the production build.
  process.env.NODE_ENV = 'production'
  const { build } = await import('vite')
  await build({ configFile: 'console/vite.config.js', mode: 'production' })
}
