import { get, type IncomingMessage } from 'node:http'
import { credentials, type Who } from '../../support/world.js'

/** Reads the events of `insertEvents` from the start of the stream until there are as many; resolves with their number. */
export function catchUp(
  server: string,
  as: Who,
  count: number,
  onAnswer: (answer: IncomingMessage) => void = () => {},
): Promise<number> {
  const url = `${server}/api/v2/events?types=line.status.changed&since=0`
  return new Promise((resolve, reject) => {
    let seen = 0
    let rest = ''
    const reading = get(url, { headers: credentials(as) }, (answer) => {
      answer.on('error', reject).once('end', () => reject(new Error(`The stream ended after ${seen} events`)))
      answer.setEncoding('utf8').on('data', (piece) => {
        const frames = (rest + piece).split('\n\n')
        rest = frames.pop()!
        seen += frames.filter((frame) => frame.includes('"detail"')).length
        if (seen < count) return
        reading.destroy()
        resolve(seen)
      })
      onAnswer(answer)
    }).on('error', reject)
  })
}
