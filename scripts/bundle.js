// Bundles the program and its packages into a few files in dist/bundle, and the programs of its threads into
// dist/threads, unless they are newer than their sources. Without the bundle, most of a start is spent on finding,
// opening and compiling about 1,800 modules.
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { BUILDING, BUILT, modified, newest } from './age.js'

const OUTPUT = 'dist/bundle'
const PROGRAM = `${OUTPUT}/main.cjs`
/** Packages with native code or files of their own, and packages that no start loads. */
const OUTSIDE = [
  '@photostructure/sqlite',
  '@modelcontextprotocol/sdk',
  '@fastify/swagger',
  '@fastify/swagger-ui',
  'pino',
  'pg-native',
]

/** Where the types of each entry are, seen from the bundle. */
const TYPES = { testing: '../types/testing/trunkline.js', driver: '../types/drivers/kit.js' }

if (Math.max(newest('src'), newest('scripts'), modified('package-lock.json')) > modified(PROGRAM)) {
  // Apart from the program, so that a thread loads none of the chunks that it would share with it. First, because the
  // program's age decides whether anything is bundled.
  await bundle({
    outDir: 'dist/threads',
    input: {
      'sqlite-thread': 'src/storage/engine/sqlite-thread.ts',
      'sqlite-check-thread': 'src/storage/engine/sqlite-check-thread.ts',
    },
    plugins: [keepPlaces()],
  })
  await bundle({
    outDir: OUTPUT,
    input: { main: 'src/main.ts', testing: 'src/testing/trunkline.ts', driver: 'src/drivers/kit.ts' },
    plugins: [keepPlaces(), omitTelemetry(), addModules(), addLicences()],
    groups: [{ name: 'import', test: /src\/base\/import\.ts$/ }],
  })
  copyFileSync('scripts/code-cache.js', `${OUTPUT}/code-cache.js`)
  execFileSync(process.execPath, ['scripts/fill-code-cache.js'], { stdio: 'inherit' })
}
writeFileSync(
  'dist/main.js',
  "#!/usr/bin/env node\nimport { requireCached } from './bundle/code-cache.js'\n\nrequireCached('./main.cjs')\n",
)
if (!existsSync(BUILDING)) writeFileSync(BUILDING, '')
renameSync(BUILDING, BUILT)

async function bundle({ outDir, input, plugins, groups = [] }) {
  const { build } = await import('vite')
  await build({
    configFile: false,
    logLevel: 'warn',
    plugins,
    ssr: { target: 'node', noExternal: true },
    build: {
      ssr: true,
      target: 'node20',
      outDir,
      minify: false,
      rolldownOptions: {
        external: OUTSIDE.map((name) => new RegExp(`^${name}(/|$)`)),
        input,
        output: {
          format: 'cjs',
          entryFileNames: '[name].cjs',
          chunkFileNames: '[name]-[hash].cjs',
          codeSplitting: { groups },
        },
      },
    },
  })
}

/**
 * What a module finds beside itself it still finds there: its own place in dist, not that of the bundle. Packages
 * that a module requires only when they are needed come into the bundle, too.
 */
function keepPlaces() {
  return {
    name: 'keep-places',
    transform(code, id) {
      if (!code.includes('import.meta.url') || id.includes('node_modules')) return undefined
      const own = relative('src', id).replace(/\.ts$/, '.js')
      return code
        .replace(/^const require = createRequire\(import\.meta\.url\);?$/m, '')
        .replaceAll('import.meta.url', `new URL(${JSON.stringify(`../${own}`)}, import.meta.url).href`)
    },
  }
}

/**
 * prom-client loads OpenTelemetry for exemplars, which Trunkline does not have. Rolldown breaks that package, and users
 * of ours do not have it.
 */
function omitTelemetry() {
  const nothing = '\0no-telemetry'
  return {
    name: 'omit-telemetry',
    enforce: 'pre',
    resolveId: (id) => (id === '@opentelemetry/api' ? nothing : undefined),
    load: (id) => (id === nothing ? 'export {}' : undefined),
  }
}

/**
 * Adds an ECMAScript module for each entry that users import, and types for those who require it. Both share the
 * classes of one bundle.
 */
function addModules() {
  return {
    name: 'add-modules',
    generateBundle(_options, bundle) {
      for (const { isEntry, name, exports } of Object.values(bundle)) {
        if (!isEntry || name === 'main') continue
        const source = `import { createRequire } from 'node:module'

export const { ${exports.join(', ')} } = createRequire(import.meta.url)('./${name}.cjs')
`
        this.emitFile({ type: 'asset', fileName: `${name}.js`, source })
        const types = `'${TYPES[name]}', { with: { 'resolution-mode': 'import' } }`
        const values = exports.map((one) => `export declare const ${one}: typeof import(${types}).${one}\n`)
        const rest = `export type * from '${TYPES[name]}' with { 'resolution-mode': 'import' }\n`
        this.emitFile({ type: 'asset', fileName: `${name}.d.cts`, source: values.join('') + rest })
      }
    },
  }
}

/** Adds the licences of the packages in the bundle. */
function addLicences() {
  return {
    name: 'add-licences',
    generateBundle() {
      const inside = [...this.getModuleIds()].map(
        (id) => /^\/.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0],
      )
      const texts = [...new Set(inside)]
        .filter(Boolean)
        .sort()
        .map((folder) => {
          const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
          const files = readdirSync(folder).filter((file) => /^licen[cs]e/i.test(file))
          const text = files.map((file) => readFileSync(`${folder}/${file}`, 'utf8').trim()).join('\n\n')
          return `${name} ${version} (${license})\n\n${text}\n`
        })
      this.emitFile({ type: 'asset', fileName: 'LICENSES', source: texts.join(`\n${'-'.repeat(80)}\n\n`) })
    },
  }
}
