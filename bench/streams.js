// A thousand open event streams of one account, while a hundred events a second are written to it: the time from
// the moment an event carries to its arrival, over all events and all streams. The clocks are the same one.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { LIVE, startTrunkline } from './servers.js'
import { round } from './stats.js'

const STREAMS = 1000
const EVENTS_PER_SECOND = 100
/** A message that arrives is created, sent and delivered. */
const EVENTS_PER_SEND = 3
const SECONDS = 10
const LIMIT_MS = 250

export async function fanout(_runs, say) {
  const server = await startTrunkline({ line: { pace: 0, config: { latency_ms: 0 } } })
  const readers = fork('bench/stream-readers.js', [String(server.port), String(STREAMS)])
  try {
    const idleMb = server.rssMb()
    await once(readers, 'message')
    const openMb = server.rssMb()
    const report = async () => {
      readers.send('report')
      return (await once(readers, 'message'))[0]
    }
    const before = (await report()).total
    const sends = Math.round((EVENTS_PER_SECOND / EVENTS_PER_SEND) * SECONDS)
    let worstMb = openMb
    const startedAt = performance.now()
    for (let i = 0; i < sends; i++) {
      const wait = startedAt + (i * EVENTS_PER_SEND * 1000) / EVENTS_PER_SECOND - performance.now()
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
      void send(server.port, i)
      if (i % 30 === 0) worstMb = Math.max(worstMb, server.rssMb())
    }
    const writing = (performance.now() - startedAt) / 1000
    const wanted = sends * EVENTS_PER_SEND * STREAMS + before
    let result = await report()
    for (let i = 0; i < 50 && result.total < wanted; i++) {
      await new Promise((resolve) => setTimeout(resolve, 200))
      result = await report()
    }
    say(
      `fanout: ${STREAMS} streams, ${round((sends * EVENTS_PER_SEND) / writing, 0)} events/s: p50 ${result.p50} ms, p99 ${result.p99} ms, longest ${result.max} ms; ${round(idleMb, 0)} MB, ${round(openMb, 0)} MB with the streams open, at most ${round(worstMb, 0)} MB`,
    )
    if (result.closed > 0) throw new Error(`${result.closed} streams were closed`)
    if (result.total !== wanted || result.fewest !== result.most)
      throw new Error(
        `${result.total} events arrived, ${wanted} were to; ${result.fewest} to ${result.most} a stream`,
      )
    if (result.p99 >= LIMIT_MS) say(`fanout: MISSED, p99 should be under ${LIMIT_MS} ms`)
    return { fanout_p99_ms: result.p99, fanout_rss_mb: round(worstMb, 0) }
  } finally {
    readers.kill()
    await server.stop()
  }
}

async function send(port, i) {
  const reply = await fetch(`http://127.0.0.1:${port}/api/send-message`, {
    method: 'POST',
    headers: LIVE,
    body: JSON.stringify({
      number: `+1202555${String(2000 + (i % 7000)).padStart(4, '0')}`,
      from_number: '+12025550100',
      content: `Hello, this is message ${i} of usual length.`,
    }),
  })
  await reply.arrayBuffer()
  if (reply.status !== 202) throw new Error(`answered ${reply.status}`)
}
