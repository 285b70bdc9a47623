import { describe, expect, it } from 'vitest'
import { extractCode, extractLink } from './extract.js'

describe('a code in a text', () => {
  it.each([
    ['Your code is 482913', '482913'],
    ['482913 is your Acme verification code.', '482913'],
    ['G-482913 is your Google verification code.', '482913'],
    ['Your WhatsApp code: 482-913. Do not share it', '482913'],
    ['Telegram code: 48291', '48291'],
    ['Your OTP is 4829. Valid for 10 minutes.', '4829'],
    ['[Acme] 482 913 is your one-time password', '482913'],
    ['Use 48291300 as your login token', '48291300'],
    ['Enter PIN 0042 to continue', '0042'],
    ['482913', '482913'],
    ['482-913', '482913'],
    ['Your code is 2024', '2024'],
    ['Ihr Bestätigungscode lautet 482913', '482913'],
    ['Tu código de verificación es 482913', '482913'],
    ['Ваш код: 482913', '482913'],
    ['您的验证码是482913，5分钟内有效', '482913'],
    ['Hi,4829 is your code', '4829'],
    ['Your code is 482913.\n\n@acme.example #482913', '482913'],
    ['Code: 482913. It expires on 2026-03-01 at 12:30.', '482913'],
    ['Your payment of $1500.00 needs code 482913', '482913'],
    ['Pay 1500 EUR with code 4829', '4829'],
    ['Code 482913 for your order 7731092', '482913'],
    ['Confirmation code for order #77310 is 482913', '482913'],
    ['Card ending in 4921: your code is 8830', '8830'],
    ['Questions? Call +1 202 555 0100. Your code is 482913', '482913'],
    ['Questions? (202) 555-0100. Code: 482913', '482913'],
    ['482913 is your code. Text STOP to 22395 to stop', '482913'],
    ['Acme since 1999: code 482913', '482913'],
    ['Your code is 482913. Or open https://acme.example/v/77665544', '482913'],
    ['© 2026 Acme. Your passcode: 482913', '482913'],
    ['You have 5000 points. Your code: 482913', '482913'],
    ['Your code is K7Q4M2', 'K7Q4M2'],
    ['4F9-K2B is your Acme verification code', '4F9K2B'],
    ['AB12-CD34 is your one-time password', 'AB12CD34'],
    ['Your sign-in code is x7k2p9.', 'x7k2p9'],
    ['Your verification code for ORDER77 is 482913', '482913'],
    ['K7Q4M2', 'K7Q4M2'],
  ])('%j has %s', (text, code) => expect(extractCode(text)).toBe(code))

  it.each([
    'Your order 482913 has shipped',
    'See you in 2026!',
    'That will be $1500',
    'That will be 1500 EUR with the discount code SPRING',
    'Use the code SPRING before March 2026',
    'The code is valid until 12/31/2026',
    'For a code call +12025550100',
    'For a code call 202-555-0100',
    'For a code call 555-0100',
    'Text CODE to 22395',
    'Your code is on its way',
    'Your code is SPRING',
    'Save with the discount code SPRING26',
    'Your promo code: SPRING26',
    'Use your code at the counter of Gate 7 in T5',
    'Verify your order AB12CD34',
    'Your code is on iphone15',
    'Your code is 123',
    'Your code is 123456789',
    'Code review at 1600 Amphitheatre Avenue',
    'Verify at https://acme.example/482913',
    'Verification for the card ending in 4921',
    'Verify your payment of 1,234.56',
    '',
  ])('%j has none', (text) => expect(extractCode(text)).toBeNull())

  it('comes to an end with long texts of digits', () => {
    const texts = ['1'.repeat(18_000), '12 '.repeat(6000), '1-'.repeat(9000), 'code 1234 '.repeat(1800)]
    expect(texts.map(extractCode)).toEqual([null, null, null, '1234'])
  })
})

it.each([
  ['Tap https://acme.example/login?t=a-b_c.', 'https://acme.example/login?t=a-b_c'],
  ['(see http://acme.example/x)', 'http://acme.example/x'],
  ['https://acme.example/a_(b), or not', 'https://acme.example/a_(b)'],
  ['First https://one.example and https://two.example', 'https://one.example'],
  ['"https://acme.example/#/x/1"', 'https://acme.example/#/x/1'],
  ['HTTPS://ACME.EXAMPLE/X!', 'HTTPS://ACME.EXAMPLE/X'],
  ['acme.example', null],
  ['ftp://acme.example', null],
  ['https://', null],
  ['', null],
])('the link in %j is %s', (text, link) => expect(extractLink(text)).toBe(link))
