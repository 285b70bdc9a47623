// Root folders with a small Debian, kept between runs.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { need, run, Skip } from './report.js'

const CACHE = resolve('node_modules/.cache/deploy-check')

/** The folder of a Debian without anything but these packages; nobody may change it. */
export async function debian(release, ...packages) {
  if (process.getuid() !== 0) throw new Skip('debootstrap needs root')
  need('debootstrap')
  const root = `${CACHE}/${release}`
  if (existsSync(`${root}/complete`)) return root
  await run('rm', ['-rf', root])
  mkdirSync(CACHE, { recursive: true })
  try {
    await run('debootstrap', ['--variant=minbase', `--include=${packages.join(',')}`, release, root])
  } catch {
    throw new Skip('debootstrap could not fetch Debian; is there a network?')
  }
  // What the slim images of Debian leave out.
  const useless = [
    'var/cache/apt',
    'var/lib/apt/lists',
    'usr/share/doc',
    'usr/share/man',
    'usr/share/locale',
    'usr/share/info',
  ]
  await run('sh', ['-c', useless.map((path) => `rm -rf ${root}/${path}/*`).join('; ')])
  writeFileSync(`${root}/complete`, '')
  return root
}
