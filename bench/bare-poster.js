// The yardstick: posts each line it reads to a URL, so many at once, and does nothing else.
import { createInterface } from 'node:readline'
import { Agent, request } from 'undici'

const [, , url, connections, type = 'application/json'] = process.argv
const dispatcher = new Agent({ connections: Number(connections) })
const bodies = []
const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => bodies.push(line))
lines.on('close', async () => {
  let next = 0
  const one = async () => {
    while (next < bodies.length) {
      const body = bodies[next++]
      const answer = await request(url, {
        method: 'POST',
        headers: { 'content-type': type },
        body,
        dispatcher,
      })
      await answer.body.dump()
    }
  }
  await Promise.all(Array.from({ length: Number(connections) }, one))
})
console.log('ready')
