import type { Agent } from 'undici'

export interface AccountAgents {
  of(account: string): Agent
  /** Ends the current requests of the account. */
  drop(account: string): void
  destroy(): Promise<unknown>
}

/**
 * One client for each account, so that accounts share no connection. A client is replaced after `lifeMs`, so that
 * names are looked up again and idle accounts hold no memory; beyond `max` clients the oldest is closed. A client
 * finishes its requests before it closes.
 */
export function createAccountAgents(make: () => Agent, lifeMs: number, max: number): AccountAgents {
  const agents = new Map<string, { agent: Agent; timer: NodeJS.Timeout }>()
  const closing = new Map<Agent, string>()

  function retire(account: string) {
    const { agent, timer } = agents.get(account)!
    clearTimeout(timer)
    agents.delete(account)
    closing.set(agent, account)
    agent.close().finally(() => closing.delete(agent))
  }

  return {
    of(account) {
      const known = agents.get(account)
      if (known) return known.agent
      if (agents.size >= max) retire(agents.keys().next().value!)
      const agent = make()
      agents.set(account, { agent, timer: setTimeout(retire, lifeMs, account).unref() })
      return agent
    },
    drop(account) {
      const known = agents.get(account)
      if (known) {
        clearTimeout(known.timer)
        agents.delete(account)
        void known.agent.destroy()
      }
      for (const [agent, whose] of closing) if (whose === account) void agent.destroy()
    },
    destroy() {
      const all = [...closing.keys(), ...[...agents.values()].map(({ agent }) => agent)]
      for (const { timer } of agents.values()) clearTimeout(timer)
      agents.clear()
      return Promise.all(all.map((agent) => agent.destroy()))
    },
  }
}
