import type { PhoneMessage } from '../../core/sim/phone.js'
import { topics } from '../../core/topics.js'
import { listPhoneMessageIds, savePhoneArrivals } from '../../storage/sim/messages.js'
import { listAnsweringPhones } from '../../storage/sim/phones.js'
import type { Platform } from '../ctx.js'
import { putOnNetwork, type SimulatedLine, wakePhoneLines } from './phones.js'

/** Messages that reach their phone, and phones with an auto-reply. */
export function createArrivals(ctx: Platform) {
  return {
    /** All these messages are for one line. */
    async arrived(over: SimulatedLine, messages: PhoneMessage[]) {
      ctx.failpoint('carrier.before_thanks')
      const at = ctx.clock.now()
      const ids = messages.map((message) => message.id)
      const replies = await autoReplies(ctx, messages)
      if (replies.length === 0) await ctx.db.write((sql) => savePhoneArrivals(sql, ids, at))
      else {
        // In one transaction: a message gets one reply, however often the network repeats it.
        await ctx.db.tx(async (sql) => {
          await savePhoneArrivals(sql, ids, at)
          const there = await listPhoneMessageIds(sql, ids)
          for (const { network, number, content, to } of replies)
            if (there.has(to))
              await putOnNetwork(
                ctx,
                sql,
                over,
                { network, number },
                { content, mediaUrl: '', replyTo: null },
              )
        })
        wakePhoneLines(ctx, [over.line.id])
      }
      ctx.failpoint('carrier.after_thanks')
      for (const network of new Set(messages.map((message) => message.network)))
        ctx.wakes.wake(topics.screens, network)
    },
  }
}

/** No auto-reply in groups: two phones would never stop. */
async function autoReplies(ctx: Platform, messages: readonly PhoneMessage[]) {
  const direct = messages.filter((message) => !message.fromPhone && message.chatId === null)
  if (direct.length === 0) return []
  const texts = new Map<string, string>()
  for (const network of new Set(direct.map((message) => message.network))) {
    const numbers = direct.flatMap((message) => (message.network === network ? message.phone : []))
    for (const phone of await listAnsweringPhones(ctx.db, network, [...new Set(numbers)]))
      texts.set(`${network} ${phone.number}`, phone.autoReply!)
  }
  return direct.flatMap(({ id: to, network, phone: number }) => {
    const content = texts.get(`${network} ${number}`)
    return content === undefined ? [] : { network, number, content, to }
  })
}
