import type { Message } from '../messages/message.js'
import type { Part, Search, Term } from './search.js'

/** Whether a message matches a search. A message to a group has no single recipient; `group:` finds it. */
export function matches(search: Search, message: Message): boolean {
  const { from, to } = search
  if (from !== undefined && message.createdAt < from) return false
  if (to !== undefined && message.createdAt > to) return false
  return search.terms.every((term) => holds(term, message) !== term.not)
}

function holds(term: Term, message: Message): boolean {
  const { isOutbound, lineNumber, contact, groupId } = message
  switch (term.by) {
    case 'text':
      return textOf(message).includes(term.text)
    case 'to':
      return isNumber(isOutbound ? contact : lineNumber, term.number)
    case 'from':
      return isNumber(isOutbound ? lineNumber : contact, term.number)
    case 'with':
      return isNumber(contact, term.number)
    case 'line':
      return isNumber(lineNumber, term.number)
    case 'group':
      return groupId === term.group
    case 'status':
      return term.statuses.includes(message.status)
    case 'direction':
      return isOutbound === term.outbound
    case 'service':
      return message.service === term.service
    case 'downgraded':
      return message.wasDowngraded === true
    case 'has':
      return hasPart(message, term.what)
  }
}

/** With a plus, the number must begin with the term; without one, it may contain the digits anywhere. */
function isNumber(number: string, wanted: string): boolean {
  return wanted.startsWith('+') ? number.startsWith(wanted) : number.includes(wanted)
}

function textOf({ content, error }: Message): string {
  return (error ? `${content}\n${error.message}\n${error.detail ?? ''}` : content).toLowerCase()
}

function hasPart(message: Message, part: Part): boolean {
  switch (part) {
    case 'media':
      return message.mediaUrl !== ''
    case 'reply':
      return message.replyTo !== null
    case 'card':
      return message.extra?.appCard !== undefined
    case 'location':
      return message.extra?.location !== undefined || message.extra?.requestsLocation === true
    case 'style':
      return message.sendStyle !== ''
    case 'error':
      return message.error !== null
  }
}
