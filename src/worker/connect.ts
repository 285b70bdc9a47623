import type { Line } from '../core/line.js'
import type { Ctx } from '../ctx.js'
import type { Connection, Driver } from '../drivers/driver.js'
import type { DriverHost } from '../drivers/host.js'

/** A driver hands over its connection at once, and lets go of it soon: other lines wait for that. */
const PATIENCE_MS = 10_000

/** Has a driver connect a line. What it does wrong concerns this line alone. */
export async function connect(driver: Driver, line: Line, host: DriverHost): Promise<Connection> {
  const made = (async () => driver.connect(line, host))()
  try {
    const connection = await inTime(made, 'connect() did not answer')
    if (typeof connection?.send !== 'function' || typeof connection.close !== 'function')
      throw new Error('connect() answered something without send and close')
    return connection
  } catch (error) {
    // One that comes after all is not wanted any more.
    void made.then((connection) => connection.close()).catch(() => {})
    throw error
  }
}

export async function disconnect(ctx: Ctx, line: Line, connection: Connection): Promise<void> {
  try {
    await inTime((async () => connection.close())(), 'close() did not answer')
  } catch (error) {
    ctx.log.error({ err: error, line: line.id }, 'the driver failed to close its connection')
  }
}

function inTime<T>(work: Promise<T>, complaint: string): Promise<T> {
  let timer: NodeJS.Timeout
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${complaint} in ${PATIENCE_MS} ms`)), PATIENCE_MS)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
