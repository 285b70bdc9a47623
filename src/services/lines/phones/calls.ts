import { createHmac, timingSafeEqual } from 'node:crypto'
import { fieldsOf, textOf, wholeOf } from '../../../core/fields.js'
import type { Line } from '../../../core/lines/line.js'
import type { PairedPhone, PhoneLine } from '../../../core/lines/paired-phone.js'
import type { PhoneCall, PhoneText } from '../../../drivers/contract.js'
import { findLines } from '../../../storage/lines/lines.js'
import { findPhoneSecret, listLinesOfPhone } from '../../../storage/lines/paired-phones.js'
import type { Ctx } from '../../ctx.js'
import { ask } from '../actions.js'

const PURPOSE = 'phone events'

interface DrivenPhoneLine {
  line: Line
  sim: number | null
}

async function linesOf(ctx: Ctx, lines: readonly PhoneLine[]): Promise<DrivenPhoneLine[]> {
  const found = await findLines(
    ctx.db,
    lines.map(({ lineId }) => lineId),
  )
  return lines.flatMap(({ lineId, sim }) => {
    const line = found.get(lineId)
    return line ? [{ line, sim }] : []
  })
}

/** The texts that wait on the lines of a phone. An id names its line, so that reports find their way back. */
export async function pull(ctx: Ctx, phone: PairedPhone): Promise<(PhoneText & { simNumber?: number })[]> {
  const lines = await linesOf(ctx, await listLinesOfPhone(ctx.db, phone.id))
  const answers = await Promise.allSettled(
    lines.map(({ line }) => ask(ctx, line, 'phone', { kind: 'pull', registeredAt: phone.registeredAt! })),
  )
  const failed = answers.find((answer) => answer.status === 'rejected')
  // One line of two may be between two processes; the texts of the other one go out.
  if (failed && answers.every(({ status }) => status === 'rejected')) throw failed.reason
  return answers.flatMap((answer, i) => {
    const { line, sim } = lines[i]!
    const texts = answer.status === 'fulfilled' ? answer.value : []
    return texts.map((text) => ({
      ...text,
      id: `${line.id}.${text.id}`,
      ...(sim === null ? {} : { simNumber: sim }),
    }))
  })
}

/** Takes the states that a phone reports. Ids of other servers, and of lines that are gone, are left out. */
export async function report(ctx: Ctx, phone: PairedPhone, reports: readonly unknown[]): Promise<void> {
  const lines = await linesOf(ctx, await listLinesOfPhone(ctx.db, phone.id))
  await Promise.all(
    lines.map(({ line }) => {
      const own = reports.map(fieldsOf).flatMap((one) => {
        const [lineId, ...rest] = textOf(one.id).split('.')
        return lineId === line.id ? [{ ...one, id: rest.join('.') }] : []
      })
      return own.length > 0 ? ask(ctx, line, 'phone', { kind: 'report', reports: own }) : []
    }),
  )
}

/** The key that a phone signs its events with. It ends with the phone's token. */
export async function signingKeysOf(ctx: Ctx, phoneId: string): Promise<readonly string[]> {
  const found = await findPhoneSecret(ctx.db, phoneId)
  return found ? ctx.vault.signatures(PURPOSE, `${phoneId} ${found.secretHash}`) : []
}

/** The time is part of what is signed, and is not compared: a phone's clock may be wrong, and a repeat is known. */
export function isSignedBy(keys: readonly string[], body: Buffer, time: string, signature: string): boolean {
  const given = Buffer.from(signature.toLowerCase(), 'latin1')
  return keys.some((key) => {
    const right = createHmac('sha256', key).update(body).update(time, 'latin1').digest('hex')
    return given.length === right.length && timingSafeEqual(given, Buffer.from(right, 'latin1'))
  })
}

/** Gives an event to the line of its SIM; resolves once a received text is stored. */
export async function receive(ctx: Ctx, phoneId: string, event: string, payload: unknown): Promise<void> {
  const lines = await linesOf(ctx, await listLinesOfPhone(ctx.db, phoneId))
  const sim = wholeOf(fieldsOf(payload).simNumber)
  // Some phones do not tell the SIM. The first line is that of the first SIM.
  const of =
    lines.find((one) => one.sim === null || one.sim === sim) ?? (sim === undefined ? lines[0] : undefined)
  if (of) await ask(ctx, of.line, 'phone', { kind: 'received', event, payload })
}

/** Tells the lines of a phone about it. A line that cannot be told notices by the phone's silence. */
export async function tellLines(ctx: Ctx, lines: readonly PhoneLine[], call: PhoneCall): Promise<void> {
  await Promise.all(
    (await linesOf(ctx, lines)).map(({ line }) => ask(ctx, line, 'phone', call).catch(() => {})),
  )
}
