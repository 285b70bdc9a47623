import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { whyNoPatroni } from '../../support/patroni/installed.js'
import type { Member } from '../../support/patroni/member.js'
import { type PatroniCluster, startPatroni } from '../../support/patroni/patroni.js'
import { eventually, type SpawnedServer, spawnServer, temporaryDirectory } from '../../support/server.js'
import { onServer } from '../../support/template.js'
import { ENGINES } from '../../support/world.js'
import { get, inspect, newLedger, send, tuneLine, violations } from '../ledger.js'

/** 5 s are promised; a loaded machine may take longer. */
const RECOVERY_MS = 30_000

const reason = ENGINES.includes('postgres') ? whyNoPatroni() : undefined
if (reason) console.warn(`${reason}: the test with Patroni is skipped`)

describe.runIf(ENGINES.includes('postgres') && !reason)('a server on a cluster of Patroni', () => {
  let cluster: PatroniCluster
  let server: SpawnedServer
  const storage: Record<string, string> = {}
  beforeAll(async () => {
    cluster = await startPatroni()
    Object.assign(storage, { DATABASE_URL: cluster.url, TRUNKLINE_DATA: temporaryDirectory() })
    server = await spawnServer({ env: { ...storage, TRUNKLINE_LEASE_MS: '2000', LOG_LEVEL: 'silent' } })
    await tuneLine(server.url, { pace: 0, settle_ms: 1000 })
  })
  afterAll(async () => {
    await server?.kill('SIGKILL')
    await cluster?.stop()
  })

  const ledger = newLedger()
  let sent = 0
  let acceptedAt = 0
  /** Sends one text after the other, each until it is accepted. */
  async function sendUntil(isOver: () => boolean) {
    while (!isOver()) {
      const content = `text ${sent++}`
      const attempt = (retry: number) =>
        send(ledger, server.url, content, retry).catch((error: Error) => {
          if (!error.message.startsWith('503')) throw error
          return false
        })
      for (let retry = 0; !(await attempt(retry)); retry++)
        await new Promise((resolve) => setTimeout(resolve, 50))
      acceptedAt = performance.now()
    }
  }

  /** Strikes the leader; resolves when a send was accepted under the next one. */
  async function recoverFrom(fault: string, strike: (leader: Member) => Promise<Member>) {
    const leader = await cluster.untilWhole()
    // A promotion before that could have lost commits, so the service would hold messages for the operator.
    await eventually(
      () => onServer(leader.url, 'select is_synchronous from incarnations order by n desc limit 1'),
      ([rows]) => Number(rows![0]!.is_synchronous) === 1,
    )
    const struckAt = performance.now()
    expect(await strike(leader)).not.toBe(leader)
    const ledAt = performance.now()
    await eventually(
      async () => acceptedAt,
      (at) => at > ledAt,
      RECOVERY_MS,
    )
    if (process.env.MINUTES)
      console.log(`${fault}: leader after ${ledAt - struckAt} ms, send ${acceptedAt - ledAt} ms later`)
  }

  it('keeps every send over a switchover and the loss of the leader', async () => {
    let isOver = false
    const clients = Promise.all(Array.from({ length: 3 }, () => sendUntil(() => isOver)))
    const strikes = async () => {
      await recoverFrom('switchover', () => cluster.switchOver())
      await recoverFrom('leader killed', async (leader) => {
        await leader.kill()
        return cluster.untilLed(leader).finally(leader.start)
      })
      // The lost machine repairs its files and follows.
      await cluster.untilWhole()
    }
    await Promise.race([strikes(), clients]).finally(() => {
      isOver = true
    })
    await clients

    const countOpen = async () => {
      const { messages } = await inspect('postgres', storage)
      return messages.filter(({ status }) => !['DELIVERED', 'ERROR'].includes(status)).length
    }
    await eventually(countOpen, (open) => open === 0, 60_000, 500).catch(async (error) => {
      throw new Error(JSON.stringify(await get(server.url, '/admin/recovery', 'admin')), { cause: error })
    })
    // A promotion leaves a hole in the event numbers.
    const found = { ...(await inspect('postgres', storage)), sequence: [], lastNumber: 0 }
    expect(violations(ledger, found)).toEqual([])
    expect(ledger.acknowledged.size).toBeGreaterThan(50)
  }, 300_000)
})
