import { chmodSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formOf, upload } from '../media/support.js'
import { makeDirectory } from '../support/directory.js'
import { PNG } from '../support/files.js'
import { createWorld, ENGINES, type World } from '../support/world.js'

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

describe.each(ENGINES)('files that another user of the machine could read on %s', (engine) => {
  const parent = makeDirectory('trunkline-modes-')
  const folder = join(parent, 'data')
  let world: World
  let before: number
  beforeAll(async () => {
    before = process.umask(0)
    world = await createWorld(engine, { env: { TRUNKLINE_DATA: folder } })
  })
  afterAll(async () => {
    process.umask(before)
    await world?.close()
    rmSync(parent, { recursive: true, force: true })
  })

  const modes = () =>
    Object.fromEntries(
      (readdirSync(folder, { recursive: true }) as string[]).map((name) => [
        name,
        modeOf(join(folder, name)),
      ]),
    )

  it('the folder is 0700 and every file 0600, although the umask allows everything', async () => {
    await world.send({ content: 'something to write' })
    expect((await upload(world, formOf(PNG))).status).toBe(201)
    await world.settle()
    expect(modeOf(folder)).toBe('700')
    const { media, ...files } = modes()
    expect(media).toBe(engine === 'sqlite' ? '700' : undefined)
    expect(Object.keys(files)).toContain('seal.key')
    if (engine === 'sqlite') {
      expect(Object.keys(files)).toEqual(
        expect.arrayContaining(['lock.db', 'trunkline.db', 'trunkline.db-shm', 'trunkline.db-wal']),
      )
      expect(Object.keys(files).some((name) => name.startsWith('media/'))).toBe(true)
    }
    expect([...new Set(Object.values(files))]).toEqual(['600'])
    expect(world.logs.filter((line) => line.includes('chmod 700'))).toEqual([])
  })

  it('a start takes files of an older version away from other users, and reports an open folder', async () => {
    const files = readdirSync(folder).filter((name) => name.startsWith('trunkline.db') || name === 'lock.db')
    for (const name of files) chmodSync(join(folder, name), 0o644)
    chmodSync(folder, 0o750)
    await world.restart()
    for (const name of files) if (name in modes()) expect([name, modes()[name]]).toEqual([name, '600'])
    expect(modeOf(folder)).toBe('750')
    expect(world.logs.filter((line) => line.includes(`chmod 700 ${folder}`))).toHaveLength(1)
  })
})
