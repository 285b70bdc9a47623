import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createWakes, hintOf, type Reach, type Topic, type WakePort, type Wakes } from './wakes.js'

/** Two processes on one database. */
function createProcesses() {
  const listeners: ((hint: string) => void)[] = []
  const announced: ((hint: string) => void)[] = []
  const notified: string[] = []
  const port: WakePort = {
    engine: 'postgres',
    async notify(hint) {
      notified.push(hint)
      for (const listener of listeners) listener(hint)
    },
    onNotify: (handler) => void listeners.push(handler),
    onAnnounce: (handler) => void announced.push(handler),
  }
  return { here: createWakes(port), there: createWakes(port), notified, announce: announced[0]! }
}

const topic = (reach: Reach): Topic<[account: string, lane: string]> => ({ name: `t-${reach}`, reach })
const heardBy = (wakes: Wakes, on: Topic<[string, string]>) => {
  const heard: string[][] = []
  wakes.on(on, (...detail) => heard.push(detail))
  return heard
}

describe('a hint', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('for one process stays here when somebody listens here', () => {
    const { here, there, notified } = createProcesses()
    const elsewhere = heardBy(there, topic('one'))
    here.wake(topic('one'), 'a', 'l')
    expect(elsewhere).toEqual([['a', 'l']])
    const own = heardBy(here, topic('one'))
    here.wake(topic('one'), 'b', 'l')
    expect([own, elsewhere, notified]).toEqual([[['b', 'l']], [['a', 'l']], ['t-one#a#l']])
  })

  it('for all reaches the other processes at once', () => {
    const { here, there } = createProcesses()
    const [own, elsewhere] = [heardBy(here, topic('all')), heardBy(there, topic('all'))]
    here.wake(topic('all'), 'a', 'l')
    expect(own[0]).toEqual(['a', 'l'])
    expect(elsewhere).toEqual([['a', 'l']])
  })

  it.each(['woken', 'announced'])('of a burst reaches other processes once: %s', (how) => {
    const { here, there, notified, announce } = createProcesses()
    const [own, elsewhere] = [heardBy(here, topic('burst')), heardBy(there, topic('burst'))]
    for (let i = 0; i < 100; i++)
      if (how === 'woken') here.wake(topic('burst'), 'a', 'l')
      else announce(hintOf(topic('burst'), ['a', 'l']))
    expect([own.length, elsewhere.length]).toEqual([100, 0])
    vi.advanceTimersByTime(1000)
    expect(elsewhere).toEqual([['a', 'l']])
    expect(notified).toHaveLength(1)
  })

  it('reaches nobody after the end of the subscription', () => {
    const { here, notified } = createProcesses()
    const plain: Topic<[]> = { name: 'plain', reach: 'one' }
    const handler = vi.fn()
    const end = here.on(plain, handler)
    here.wake(plain)
    end()
    here.wake(plain)
    expect(handler.mock.calls).toEqual([[]])
    expect(notified).toEqual(['plain'])
  })
})
