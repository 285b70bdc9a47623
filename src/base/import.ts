/**
 * Imports a package or file that is not part of the bundle. This module stays out of V8's code cache, because code
 * from the cache cannot call `import()`.
 */
export function importModule<T>(from: string): Promise<T> {
  return import(/* @vite-ignore */ from)
}
