import { fieldsOf, textOf } from '../../../core/fields.js'
import { bad, fine, type Observation } from '../../../core/lines/observation.js'
import { hostOf } from '../../../core/lines/reach.js'
import { type Api, ApiFault } from '../api.js'
import { isOfThisServer } from '../profile.js'

/** The RCS agent of the line. Messages to it come to its own webhook, not to that of the profile. */
export interface Agent {
  isEnabled: boolean
  webhookUrl: string
}

const pathOf = (agentId: string) => `/messaging/rcs/agents/${encodeURIComponent(agentId)}`

export async function readAgent(api: Api, agentId: string): Promise<Agent | undefined> {
  const { status, json } = await api.get(pathOf(agentId))
  const { data } = fieldsOf(json)
  const row = fieldsOf(data)
  if (status !== 200 || row !== data) return undefined
  return { isEnabled: row.enabled !== false, webhookUrl: textOf(row.webhook_url) }
}

export function agentFindings(
  { settings }: Api,
  agent: Agent | undefined,
  callbackUrl: string,
): Observation[] {
  if (!agent)
    return [
      bad('DEGRADED', 'The RCS agent cannot be read', 'Check rcs_agent_id and the rights of the API key.'),
    ]
  const { isEnabled, webhookUrl } = agent
  const found: Observation[] = isEnabled
    ? [fine('The line sends by RCS')]
    : [bad('DEGRADED', 'The RCS agent is not enabled', 'Enable it in the Telnyx portal.')]
  if (webhookUrl !== '' && webhookUrl === callbackUrl) return found
  const where =
    webhookUrl === ''
      ? 'No webhook is set for the RCS agent'
      : `Messages to the RCS agent go to ${hostOf(webhookUrl)}`
  if (isOfThisServer(webhookUrl, callbackUrl))
    found.push(
      bad(
        'DEGRADED',
        'Another line of this server uses the RCS agent',
        'Give each line an agent of its own.',
      ),
    )
  else if (settings.wire) found.push(fine(`${where}; Trunkline changes that`))
  else if (webhookUrl === '')
    found.push(
      bad(
        'DEGRADED',
        `${where}, so messages by RCS do not arrive`,
        'Set wire, or enter the address of the line.',
      ),
    )
  else found.push(fine(`${where}; Trunkline reads them from the log of Telnyx`))
  return found
}

/** Lets messages to the agent come to this server; returns whether they come to this line. */
export async function wireAgent(api: Api, agentId: string, agent: Agent, url: string): Promise<boolean> {
  if (agent.webhookUrl === url) return true
  if (isOfThisServer(agent.webhookUrl, url)) return false
  const answer = await api.patch(pathOf(agentId), { webhook_url: url })
  if (answer.status !== 200) throw new ApiFault(answer)
  return true
}
