import { toE164FromUS } from '../phone-number.js'

/** Numbers that calls to a line may be forwarded to. */
export interface ForwardingNumbers {
  /** Number of the seat that the line is assigned to. */
  seat: string | null
  line: string | null
  /** The account's default. */
  company: string | null
}

/** The number that calls are forwarded to: the most specific one that is set; null forwards none. */
export function forwardingNumber(numbers: ForwardingNumbers): string | null {
  return numbers.seat ?? numbers.line ?? numbers.company
}

/** Emergency numbers of the world, and 933, the test number of US emergency services. */
const EMERGENCY = new Set(
  (
    '000 100 101 102 108 110 111 112 113 115 117 118 119 120 122 123 190 191 192 193 197 199 ' +
    '911 933 988 995 997 998 999'
  ).split(' '),
)

/** The number in E.164, or why calls cannot be forwarded to it. */
export function toForwardingNumber(input: string): { number: string } | { fault: string } {
  if (input.trim() === '') return { fault: 'must not be empty; DELETE takes the number away' }
  if (isEmergency(input)) return { fault: 'must not be an emergency number' }
  const number = toE164FromUS(input)
  return number ? { number } : { fault: 'must be a phone number in E.164, like +12025550101, or a US number' }
}

/** Whether a number is an emergency number: as dialled, after a country code, or in place of an area code. */
function isEmergency(input: string): boolean {
  const digits = input.replace(/\D/g, '')
  return (digits.length <= 6 && EMERGENCY.has(digits.slice(-3))) || /^1?[2-9]11\d{7}$/.test(digits)
}
