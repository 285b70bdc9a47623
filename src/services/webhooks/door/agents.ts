import type { Agent } from 'undici'

export interface AccountAgents {
  of(account: string): Agent
  /** What is under way for the account ends here. */
  drop(account: string): void
  destroy(): Promise<unknown>
}

/**
 * One client for each account: what travels on a connection, and how fast, is nobody else's business. Each lives for
 * a while only, in use or not, so that a name that moved is asked for again and accounts that fell silent hold
 * nothing; when there are too many the oldest goes. What is under way on it is finished first.
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
