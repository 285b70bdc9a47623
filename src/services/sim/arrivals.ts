import { SCREEN_TOPIC } from '../../base/wakes.js'
import type { PhoneMessage } from '../../core/sim/phone.js'
import { listPhoneMessageIds, savePhoneArrivals } from '../../storage/sim/messages.js'
import { listAnsweringPhones } from '../../storage/sim/phones.js'
import type { Ctx } from '../ctx.js'
import { putOnNetwork, wakePhoneLines } from './phones.js'

/** The end of a message's way through the simulated network, and phones that answer by themselves. */
export function createArrivals(ctx: Ctx) {
  return {
    async arrived(messages: PhoneMessage[]) {
      ctx.failpoint('carrier.before_thanks')
      const at = ctx.clock.now()
      const ids = messages.map((message) => message.id)
      const answers = await answersTo(ctx, messages)
      if (answers.length === 0) await ctx.db.write((sql) => savePhoneArrivals(sql, ids, at))
      else {
        // Together: a message is answered once, however often the network stumbles.
        await ctx.db.tx(async (sql) => {
          await savePhoneArrivals(sql, ids, at)
          const there = await listPhoneMessageIds(sql, ids)
          for (const { usable, number, content, to } of answers)
            if (there.has(to))
              await putOnNetwork(ctx, sql, usable, number, { content, mediaUrl: '', replyTo: null })
        })
        wakePhoneLines(ctx, [...new Set(answers.map(({ usable }) => usable.line.id))])
      }
      ctx.failpoint('carrier.after_thanks')
      for (const network of new Set(messages.map((message) => message.network)))
        ctx.wakes.wake(SCREEN_TOPIC, network)
    },
  }
}

/** Nobody's phone answers in groups by itself: two of them would never stop. */
async function answersTo(ctx: Ctx, messages: readonly PhoneMessage[]) {
  const direct = messages.filter((message) => !message.fromPhone && message.chatId === null)
  if (direct.length === 0) return []
  // What arrives together was sent by one line, and a line is in one network.
  const numbers = [...new Set(direct.map((message) => message.phone))]
  const phones = await listAnsweringPhones(ctx.db, direct[0]!.network, numbers)
  if (phones.length === 0) return []
  const texts = new Map(phones.map((phone) => [phone.number, phone.autoReply!]))
  const usable = await ctx.directory.line(direct[0]!.lineId)
  if (!usable) return []
  return direct.flatMap(({ id: to, phone: number }) => {
    const content = texts.get(number)
    return content === undefined ? [] : { usable, number, content, to }
  })
}
