import type { MessageFacts } from './facts.js'
import { stepsOf } from './steps.js'
import type { Story } from './story.js'
import { conclude } from './verdict.js'
import { judgeDeliveries } from './webhooks.js'

/** Explains a message: its history, the reason for its state, and what to do. */
export function tellStory(facts: MessageFacts): Story {
  const { verdict, sentences, nextStep, waits } = conclude(facts)
  const webhooks = judgeDeliveries(facts.deliveries)
  const steps = stepsOf(facts)
  if (waits) steps.push({ at: facts.now, what: 'waits', detail: waits })
  return {
    verdict,
    summary: [...sentences, ...webhooks.sentences].join(' '),
    nextStep: [nextStep, webhooks.nextStep].filter(Boolean).join(' ') || 'Nothing to do.',
    steps,
  }
}
