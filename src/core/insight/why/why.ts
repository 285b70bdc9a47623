import type { Known } from './known.js'
import { stepsOf } from './steps.js'
import type { Story } from './story.js'
import { conclude } from './verdict.js'
import { judgeDeliveries } from './webhooks.js'

/** Explains a message: its history, the reason for its state, and what to do. */
export function tellStory(known: Known): Story {
  const { verdict, sentences, nextStep, waits } = conclude(known)
  const webhooks = judgeDeliveries(known.deliveries)
  const steps = stepsOf(known)
  if (waits) steps.push({ at: known.now, what: 'waits', detail: waits })
  return {
    verdict,
    summary: [...sentences, ...webhooks.sentences].join(' '),
    nextStep: [nextStep, webhooks.nextStep].filter(Boolean).join(' ') || 'Nothing to do.',
    steps,
  }
}
