import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installed, type Project } from '../support/packed.js'
import { type SpawnedServer, spawnServer } from '../support/server.js'

const NODE = process.execPath
const TSC = 'node_modules/typescript/bin/tsc'

describe('a client that openapi-typescript generates from the document of a server', () => {
  let server: SpawnedServer
  let project: Project
  beforeAll(async () => {
    server = await spawnServer()
    project = installed('examples/openapi-client')
    await project.run(NODE, [
      ...['node_modules/openapi-typescript/bin/cli.js', `${server.url}/openapi.json`],
      ...['-o', 'schema.ts'],
    ])
  })
  afterAll(async () => {
    project?.remove()
    await server?.kill()
  })

  it('compiles, sends a message and reads it back', async () => {
    await project.run(NODE, [TSC])
    const { stdout } = await project.run(NODE, ['dist/send.js'], { TRUNKLINE_URL: server.url })
    expect(stdout).toBe('+12025550101 iMessage Hello from a generated client\n404 not_found\n')
  })

  it('does not compile with a value of another type', async () => {
    const file = join(project.folder, 'send.ts')
    writeFileSync(file, readFileSync(file, 'utf8').replace("number: '+12025550101'", 'number: 12025550101'))
    await expect(project.run(NODE, [TSC, '--noEmit'])).rejects.toThrow(
      "Type 'number' is not assignable to type 'string'",
    )
  })
})
