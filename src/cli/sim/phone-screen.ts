import { createInterface } from 'node:readline'
import { paintFor } from '../colour.js'
import { harmless, note, printLine } from '../output.js'
import { type Hand, HELP } from './phone-hand.js'
import { type Shown, textOf, threadLines } from './phone-view.js'

const POLL_MS = 700

/** The whole terminal is the phone: the thread above, and a line to type in below. */
export async function fullScreen(hand: Hand): Promise<void> {
  const { stdin, stdout } = process
  const paint = paintFor(stdout)
  let words: string[] = []
  let shown = ''
  let isOver = false
  const input = createInterface({ input: stdin, output: stdout, prompt: '> ', terminal: true })

  async function draw(isForced = false): Promise<void> {
    const { rows = 24, columns = 80 } = stdout
    const thread = threadLines(await hand.messages(), columns, paint)
    if (isOver) return
    const status = words.slice(0, rows - 4)
    const room = Math.max(1, rows - 3 - status.length)
    const lines = [
      paint.bold(`${hand.number}   /help for help, /quit to end`),
      ...Array.from({ length: Math.max(0, room - thread.length) }, () => ''),
      ...thread.slice(-room),
      ...status.map((line) => paint.dim(harmless(line).slice(0, columns))),
    ]
    const next = lines.join('\n')
    if (next === shown && !isForced) return
    shown = next
    const drawn = lines.map((line, i) => `\u001b[${i + 1};1H${line}\u001b[K`).join('')
    stdout.write(`\u001b7${drawn}\u001b8`)
  }

  function ask(): void {
    stdout.write(`\u001b[${stdout.rows ?? 24};1H\u001b[K`)
    input.prompt()
  }

  stdout.write('\u001b[?1049h\u001b[2J')
  const redraw = () => void draw(true).catch(() => {})
  stdout.on('resize', redraw)
  const polling = setInterval(() => void draw().catch((error) => (words = [error.message])), POLL_MS)
  try {
    ask()
    await draw(true)
    await new Promise<void>((resolve) => {
      input.on('SIGINT', resolve)
      input.on('close', resolve)
      input.on('line', async (line) => {
        if (line.trim() === '/quit') return resolve()
        try {
          words = line.trim() === '' ? [] : (await hand.type(line)).split('\n').filter((one) => one !== '')
        } catch (error) {
          words = [error instanceof Error ? error.message : String(error)]
        }
        if (isOver) return
        ask()
        await draw(true).catch(() => {})
      })
    })
  } finally {
    isOver = true
    clearInterval(polling)
    stdout.off('resize', redraw)
    input.close()
    stdout.write('\u001b[?1049l')
  }
}

/** Without a terminal: each line of the input is typed, each message that comes is a line of the output. */
export async function lineByLine(hand: Hand, json: boolean): Promise<void> {
  const known = new Set((await hand.messages()).map(({ id }) => id))
  let telling = Promise.resolve()
  const tell = () => {
    telling = telling.then(async () => {
      for (const message of await hand.messages()) {
        if (known.has(message.id)) continue
        known.add(message.id)
        printLine({ ...message }, inWords(message), json)
      }
    })
    return telling
  }
  const polling = setInterval(() => void tell().catch((error) => note(error.message)), POLL_MS)
  try {
    for await (const line of createInterface({ input: process.stdin })) {
      if (line.trim() === '') continue
      if (line.trim() === '/quit') break
      if (line.trim() === '/help') {
        for (const help of HELP) note(help)
        continue
      }
      const done = await hand.type(line)
      await tell()
      if (done !== '') printLine({ done }, done, json)
    }
    await tell()
  } finally {
    clearInterval(polling)
  }
}

function inWords(message: Shown): string {
  const arrow = message.direction === 'in' ? '<' : '>'
  return `${arrow} ${message.from}  ${message.service}  ${textOf(message)}`
}
