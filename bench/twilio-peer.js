// The part of Twilio that accepts messages, and nothing else. Tells on each line of its input how many it accepted.
import http from 'node:http'
import { createInterface } from 'node:readline'

let accepted = 0

const NUMBER = {
  sid: `PN${'0'.repeat(32)}`,
  phone_number: process.argv[2],
  capabilities: { sms: true, mms: true, voice: false },
  sms_url: '',
}

const server = http.createServer((request, response) => {
  const answer = (status, body) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }
  request.resume()
  request.on('end', () => {
    if (request.method === 'POST')
      return answer(201, { sid: `SM${String(++accepted).padStart(32, '0')}`, status: 'queued' })
    if (request.url.includes('/IncomingPhoneNumbers'))
      return answer(200, { incoming_phone_numbers: [NUMBER] })
    const [, sid] = /\/Messages\/(SM\d+)/.exec(request.url) ?? []
    return answer(200, sid ? { sid, status: 'sent', direction: 'outbound-api' } : { messages: [] })
  })
})
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })))
createInterface({ input: process.stdin }).on('line', () => console.log(JSON.stringify({ accepted })))
