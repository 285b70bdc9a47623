import { connect, createServer, type Socket } from 'node:net'

/** The fate of one request on its way. */
export type Fault =
  /** The connection breaks and the server never hears of the request. */
  | 'drop-request'
  /** The server answers, and the connection breaks before the answer is through. */
  | 'drop-answer'
  /** The server answers, and the answer gets lost on an open connection. */
  | 'swallow-answer'

export interface BadNetwork {
  url: string
  /** Head of every request that came in, in order. */
  requests: string[]
  /** Whole answers the server gave to requests that had a fault. */
  lost: string[]
  /** Breaks every connection and takes no new ones, until `mend`. */
  cut(): Promise<void>
  mend(): Promise<void>
  close(): Promise<void>
}

/** A bad network between a client and a server: TCP, with one fault for each of the first requests. */
export async function startProxy(target: string, faults: Fault[]): Promise<BadNetwork> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const requests: string[] = []
  const lost: string[] = []
  const left = [...faults]

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    }
    let fault: Fault | undefined
    let answer = ''
    client.on('data', (bytes) => {
      if (/^[A-Z]+ \//.test(bytes.toString('latin1', 0, 16))) {
        requests.push(bytes.toString('latin1').split('\r\n\r\n', 1)[0]!)
        fault = left.shift()
        answer = ''
      }
      if (fault === 'drop-request') client.destroy()
      else upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (!fault) return void client.write(bytes)
      answer += bytes.toString('latin1')
      if (!isWhole(answer)) return
      lost.push(answer)
      if (fault === 'drop-answer') client.destroy()
    })
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  const listen = (at: number) => new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve))
  const cut = async () => {
    for (const socket of sockets) socket.destroy()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  await listen(0)
  const address = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    lost,
    cut,
    mend: () => listen(address.port),
    close: cut,
  }
}

function isWhole(answer: string): boolean {
  const end = answer.indexOf('\r\n\r\n')
  const length = /content-length: (\d+)/i.exec(answer)?.[1]
  return end >= 0 && answer.length >= end + 4 + Number(length ?? 0)
}
