import { fieldsOf, listOf, textOf } from '../../core/fields.js'
import { type Api, ApiFault } from './api.js'
import { idOf } from './statuses.js'

/** A number of the account. */
export interface PhoneNumber {
  /** Empty if the number is in no messaging profile. */
  profileId: string
  can: { sms: boolean; mms: boolean }
}

export function numberIn(json: unknown, number: string): PhoneNumber | undefined {
  const rows = listOf(fieldsOf(json).data).map(fieldsOf)
  const row = rows.find(({ phone_number }) => phone_number === number)
  if (!row) return undefined
  const { sms, mms } = fieldsOf(row.features)
  const isFeature = (value: unknown) => fieldsOf(value) === value
  return {
    profileId: idOf(row.messaging_profile_id) ?? '',
    can: { sms: isFeature(sms), mms: isFeature(mms) },
  }
}

/** A messaging profile: the settings of its numbers. */
export interface MessagingProfile {
  id: string
  isEnabled: boolean
  webhookUrl: string
  webhookVersion: string
  /** Level of redaction; from 2 on Telnyx hides what people write from us, too. */
  redaction: number
  assistant: string
}

export function profileIn(json: unknown, id: string): MessagingProfile | undefined {
  const { data } = fieldsOf(json)
  const row = fieldsOf(data)
  if (row !== data) return undefined
  return {
    id,
    isEnabled: row.enabled !== false,
    webhookUrl: textOf(row.webhook_url),
    webhookVersion: textOf(row.webhook_api_version),
    redaction: row.redaction_enabled === true ? Number(row.redaction_level ?? 2) : 0,
    assistant: textOf(row.ai_assistant_id),
  }
}

/** The version of webhooks that has signatures and group messages. */
export const WEBHOOK_VERSION = '2'

/** Whether the address belongs to a line of this server: lines whose numbers share a profile share its webhook. */
export function isOfThisServer(url: string, callbackUrl: string): boolean {
  const [start] = callbackUrl.split(/(?<=\/callbacks\/)/)
  return callbackUrl !== '' && start !== callbackUrl && url.startsWith(start!)
}

/** Lets the webhooks of the profile come to this server; returns whether they come to this line. */
export async function wire(api: Api, profile: MessagingProfile, url: string): Promise<boolean> {
  const { id, webhookUrl, webhookVersion } = profile
  const isTaken = webhookUrl !== url && isOfThisServer(webhookUrl, url)
  if (!isTaken && webhookUrl === url && webhookVersion === WEBHOOK_VERSION) return true
  if (isTaken && webhookVersion === WEBHOOK_VERSION) return false
  const body = { webhook_api_version: WEBHOOK_VERSION, ...(isTaken ? {} : { webhook_url: url }) }
  const answer = await api.patch(`/messaging_profiles/${id}`, body)
  if (answer.status !== 200) throw new ApiFault(answer)
  return !isTaken
}
