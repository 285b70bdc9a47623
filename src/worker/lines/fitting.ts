import { createBoundedMap } from '../../base/bounded-map.js'
import type { Capabilities } from '../../core/lines/line.js'
import type { Message, Service } from '../../core/messages/message.js'
import type { Ctx } from '../../services/ctx.js'
import { type Fit, fitMedia } from '../../services/media/fit.js'
import { chooseService } from '../../services/messages/claim.js'
import type { DispatchLine } from '../../services/messages/dispatch-line.js'

/** Verdicts that wait for their message to go. A forgotten one is made again. */
const KEPT = 1000

/**
 * Fits the media of a line's messages to the limits of its carrier. That takes seconds, so it happens before a message
 * is claimed: a process that ends meanwhile leaves no doubt about the message, and other conversations go ahead.
 */
export function createFitting(
  ctx: Ctx,
  on: Pick<DispatchLine, 'services'>,
  mediaLimits: NonNullable<Capabilities['mediaLimits']>,
  wake: () => void,
) {
  const fits = createBoundedMap<number, { service: Service; fit: Fit }>(KEPT)

  return {
    /**
     * The messages that may go now. Calls `begin` for each of the others, and what that returns once the media has been
     * examined.
     */
    ready(
      messages: readonly Message[],
      reach: ReadonlyMap<number, readonly Service[]>,
      begin: (message: Message) => () => void,
    ): readonly Message[] {
      return messages.filter((message) => {
        if (message.mediaUrl === '') return true
        const service = chooseService(on, message, reach.get(message.id))
        const limits = mediaLimits[service]
        if (!limits || fits.get(message.id)?.service === service) return true
        const done = begin(message)
        void ctx.errand(async () => {
          fits.set(message.id, { service, fit: await fitMedia(ctx, message, limits) })
          done()
          wake()
        })
        return false
      })
    },

    /** The verdict about a message that goes now; undefined: it has no media with limits. */
    take: (messageId: number): Fit | undefined => fits.take(messageId)?.fit,
  }
}
