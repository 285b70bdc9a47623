/**
 * Writes test/drivers/twilio/twiml.json: answers to calls, as Twilio's own library writes them. The library is 30 MB with
 * 54 packages, too much for every install of this repository. To make the file again:
 *
 *   npm install --prefix /tmp/twilio twilio@6.2.0
 *   node scripts/twilio-twiml.js /tmp/twilio/node_modules/twilio
 */
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'

const require = createRequire(import.meta.url)
const { VoiceResponse } = require(resolve(process.argv[2] ?? '')).twiml

const BASE = 'https://sms.example.com/callbacks/l1/secret'
const CALLS = [
  {
    number: '+12025550102',
    callerId: '+12025550101',
    action: `${BASE}/voice/dial`,
    statusCallback: `${BASE}/voice/leg`,
  },
  {
    number: '+442071838750',
    callerId: '+12025550110',
    action: `${BASE}/voice/dial?a=1&b=%22x%22`,
    statusCallback: `${BASE}/voice/leg?a=<&b='>`,
  },
  {
    number: '<&">',
    callerId: '"><Hangup/>',
    action: 'https://a.example/]]>',
    statusCallback: 'https://é.example/',
  },
]

function dialled({ number, callerId, action, statusCallback }) {
  const response = new VoiceResponse()
  const dial = response.dial({
    answerOnBridge: true,
    timeout: 30,
    timeLimit: 14400,
    callerId,
    action,
    method: 'POST',
  })
  dial.number(
    { statusCallback, statusCallbackEvent: ['answered', 'completed'], statusCallbackMethod: 'POST' },
    number,
  )
  return response.toString()
}

const rejected = new VoiceResponse()
rejected.reject({ reason: 'rejected' })
const ended = new VoiceResponse()
ended.hangup()

const file = new URL('../test/drivers/twilio/twiml.json', import.meta.url)
const cases = CALLS.map((dial) => ({ dial, xml: dialled(dial) }))
const text = JSON.stringify({ cases, reject: rejected.toString(), hangUp: ended.toString() }, null, 2)
writeFileSync(file, `${text}\n`)
