// Loads the program's bundle with compiled code that fill-code-cache.js has stored. Part of dist/bundle.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'

export const BUNDLE = dirname(fileURLToPath(import.meta.url))
/** V8 rejects code of another version itself, but not code of another processor. */
const FOLDER = join(BUNDLE, `cache-${process.version}-${process.arch}`)
const require = createRequire(import.meta.url)

export function requireCached(id) {
  requireWith(compileCached)
  return require(id)
}

/** Compiles modules of the bundle with `compile`; modules for which it returns nothing, as usual. */
export function requireWith(compile) {
  const { extensions } = require
  extensions['.cjs'] = (module, file) => {
    const script = dirname(file) === BUNDLE ? compile(file) : undefined
    if (!script) return extensions['.js'](module, file)
    const run = script.runInThisContext()
    run.call(module.exports, module.exports, createRequire(file), module, file, BUNDLE)
  }
  return require
}

function compileCached(file) {
  let cachedData
  try {
    cachedData = readFileSync(cacheOf(file))
  } catch {
    return undefined
  }
  const script = compileFile(file, cachedData)
  return script.cachedDataRejected ? undefined : script
}

export function compileFile(filename, cachedData) {
  const code = readFileSync(filename, 'utf8')
  return new Script(`(function (exports, require, module, __filename, __dirname) { ${code}\n})`, {
    filename,
    cachedData,
  })
}

export function cacheOf(file) {
  return join(FOLDER, basename(file))
}
