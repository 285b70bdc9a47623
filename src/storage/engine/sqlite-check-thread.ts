import { parentPort, workerData } from 'node:worker_threads'
import { loadSqlite } from './sqlite-statements.js'

/** Checks the tables of a large database one after the other and sends the first fault. */
const connection = loadSqlite()(workerData as string)
connection.exec('pragma query_only = on; pragma busy_timeout = 5000')
const tables = connection.prepare("select name from sqlite_master where type = 'table'").all() as {
  name: string
}[]
for (const { name } of tables) {
  const [health] = Object.values(connection.prepare(`pragma quick_check("${name}")`).get() as object)
  if (health === 'ok') continue
  parentPort!.postMessage(`${name}: ${health}`)
  break
}
connection.close()
