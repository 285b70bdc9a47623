import { fieldsOf, listOf, textOf, wholeOf } from '../../core/fields.js'
import type { Line } from '../../core/lines/line.js'
import { NoAnswer } from '../../core/lines/no-answer.js'
import { bad, fine, type Observation } from '../../core/lines/observation.js'
import { isSameSubscriber } from '../../core/phone-number.js'
import { isApp, type Phone } from './phone.js'

/** An observation of a setting may say that the line gives it to the app. */
export interface PhoneObservation extends Observation {
  isToSet?: true
}

const toSet = (what: string): PhoneObservation => ({ ...fine(what), isToSet: true })

/** Settings of the app that a line needs. */
export const NEEDED = {
  messages: { processing_order: 'FIFO' },
  webhooks: { internet_required: false },
} as const

/** Looks at the phone without changing anything. */
export async function examine(phone: Phone, line: Pick<Line, 'number'>): Promise<PhoneObservation[]> {
  try {
    if (!(await isApp(phone)))
      return [
        bad(
          'OFFLINE',
          'Something else than SMSGate answers at this address',
          'Copy the address that the app shows under Local Server.',
        ),
      ]
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    return [
      bad(
        'OFFLINE',
        `The phone does not answer: ${error.message}`,
        'Is the app switched on, with Local Server? Are phone and server in the same network?',
      ),
    ]
  }
  const { status, json } = await phone.call('GET', '/settings')
  if (status === 401 || status === 403)
    return [
      bad(
        'OFFLINE',
        'The phone rejects the user name or password',
        'Copy both from the app, under Local Server.',
      ),
    ]
  if (status !== 200)
    return [bad('DEGRADED', `The phone answered HTTP ${status} about its settings`, 'Update the app.')]
  return [
    fine('The phone answers and knows the password'),
    ...settingsIn(json),
    ...(await simsIn(phone, line)),
  ]
}

function settingsIn(json: unknown): PhoneObservation[] {
  const { messages, webhooks } = fieldsOf(json)
  const found: PhoneObservation[] = []
  const order = textOf(fieldsOf(messages).processing_order)
  // The app is told to keep the order. Versions without the setting send the newest text first.
  if (order === '')
    found.push(bad('DEGRADED', 'This version of the app does not keep texts in order', 'Update the app.'))
  else if (order !== NEEDED.messages.processing_order)
    found.push(toSet('The app sends the newest text first; Trunkline sets it to keep the order'))
  const { limit_period: period, limit_value: limit } = fieldsOf(messages)
  if ((wholeOf(limit) ?? 0) > 0 && textOf(period) !== 'Disabled')
    found.push(fine(`The app itself sends at most ${limit} texts (${period}); the rest waits on the phone`))
  if (fieldsOf(webhooks).internet_required === true)
    found.push(toSet('The app waits for the internet before it reports news; Trunkline switches that off'))
  return found
}

async function simsIn({ call, settings }: Phone, { number }: Pick<Line, 'number'>): Promise<Observation[]> {
  const { status, json } = await call('GET', settings.device_id === undefined ? '/device' : '/devices')
  if (status !== 200) return []
  const devices = listOf(json).map(fieldsOf)
  const device = devices.find(({ id }) => id === settings.device_id) ?? devices[0]
  const sims = listOf(device?.simCards).map(fieldsOf)
  // Older versions of the app do not tell.
  if (sims.length === 0) return []
  const sim = sims.find(({ simNumber }) => simNumber === (settings.sim ?? sims[0]!.simNumber))
  if (!sim)
    return [
      bad(
        'OFFLINE',
        `The phone has no SIM ${settings.sim}`,
        `Its SIMs are ${sims.map(({ simNumber }) => simNumber).join(' and ')}.`,
      ),
    ]
  const told = textOf(sim.phoneNumber)
  const who = [`SIM ${sim.simNumber}`, textOf(sim.carrierName)].filter(Boolean).join(', ')
  if (told === '' || isSameSubscriber(told, number)) return [fine(`The phone has ${who}`)]
  return [
    bad(
      'DEGRADED',
      `${who} has another number than the line`,
      'Set the number of the SIM, or choose the other SIM.',
    ),
  ]
}
