// Bundles the program into a few files in dist/bundle, unless they are newer than their sources. Most of a start is
// spent on finding and opening modules, and the schema library alone has seven hundred.
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { BUILDING, BUILT, modified, newest } from './age.js'

const OUTPUT = 'dist/bundle'
/** Packages that come as many small files. All others are loaded from where they are installed. */
const INSIDE = { typebox: 'license', 'libphonenumber-js': 'LICENSE' }

if (
  newest('src') > modified(`${OUTPUT}/cli.js`) ||
  modified('package-lock.json') > modified(`${OUTPUT}/cli.js`)
) {
  const { build } = await import('vite')
  await build({
    configFile: false,
    logLevel: 'warn',
    plugins: [keepPlaces()],
    ssr: { target: 'node', noExternal: Object.keys(INSIDE).map((name) => new RegExp(`^${name}(/|$)`)) },
    build: {
      ssr: true,
      target: 'node20',
      outDir: OUTPUT,
      minify: false,
      rolldownOptions: {
        input: { cli: 'src/cli/cli.ts', testing: 'src/testing/trunkline.ts', driver: 'src/drivers/kit.ts' },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  })
  for (const [name, licence] of Object.entries(INSIDE))
    copyFileSync(`node_modules/${name}/${licence}`, `${OUTPUT}/LICENSE.${name}`)
}
// The program starts from there.
writeFileSync('dist/main.js', readFileSync('dist/main.js', 'utf8').replace('./cli/cli.js', './bundle/cli.js'))
if (!existsSync(BUILDING)) writeFileSync(BUILDING, '')
renameSync(BUILDING, BUILT)

/** What a module finds beside itself it still finds there: its own place in dist, not that of the bundle. */
function keepPlaces() {
  return {
    name: 'keep-places',
    transform(code, id) {
      if (!code.includes('import.meta.url') || id.includes('node_modules')) return undefined
      const own = relative('src', id).replace(/\.ts$/, '.js')
      return code.replaceAll(
        'import.meta.url',
        `new URL(${JSON.stringify(`../${own}`)}, import.meta.url).href`,
      )
    },
  }
}
