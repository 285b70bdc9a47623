import { type Args, onePositional, optionsOf, readValues, whole } from '../args.js'
import { ApiError, type Call } from '../client.js'
import { type Command, command, type Fields } from '../command.js'
import { note, printRecord } from '../output.js'

interface Pairing extends Fields {
  id: string
  api_url: string
  code: string
  lines: { line_id: string }[]
}

/** Pairs a phone with a line, and tells what to type into the app. A line with a phone gets a new code for it. */
async function pairLine(args: Args, call: Call, lineId: string, sim?: unknown): Promise<void> {
  const { data } = await call<{ data: Pairing[] }>('GET', '/admin/phones')
  const known = data.find(({ lines }) => lines.some(({ line_id }) => line_id === lineId))
  const made = known
    ? await call<Pairing>('POST', `/admin/phones/${known.id}/code`, {})
    : await call<Pairing>('POST', '/admin/phones', {
        lines: [{ line_id: lineId, ...(sim === undefined ? {} : { sim }) }],
      })
  printRecord(args, { phone: made.id, api_url: made.api_url, code: made.code })
  note(args, 'On the phone, in SMSGate (the app has no scanner for such an address, so type it):')
  note(
    args,
    `1. Settings, Cloud server: set API URL to ${made.api_url}, and Notification channel to SSE Only.`,
  )
  note(args, '2. Home: turn on Cloud server, and tap Offline to go online.')
  note(args, `3. Choose the tab By Code and type ${made.code}. It works once, for ten minutes.`)
}

const OPTIONS = optionsOf({
  sim: whole('SIM of the line, in a phone with several; default is the one that Android uses', 1),
})

const linePair = command({
  name: 'line pair',
  summary: 'Pair an Android phone with a line of the driver phone: show the code for the app',
  positional: 'id or number',
  as: 'admin',
  options: OPTIONS,
  examples: ['+12025550110', '+12025550110 --sim 2'],
  async run(args, call) {
    const named = onePositional(args, 'line, by its id or number')
    const { data } = await call<{ data: Fields[] }>('GET', '/admin/lines')
    const line = data.find(
      ({ id, number, driver }) => id === named || (number === named && driver === 'phone'),
    )
    if (!line) throw new ApiError(`There is no line ${named} with the driver phone`)
    await pairLine(args, call, String(line.id), readValues(args.values, OPTIONS).sim)
  },
})

const linePhones = command({
  name: 'line phones',
  summary: 'List the Android phones that are paired with lines',
  request: 'GET /admin/phones',
  columns: 'id name lines sims paired_at last_seen_at',
  row: ({ lines, sims, ...phone }) => ({
    ...phone,
    lines: (lines as Fields[])
      .map(({ line_id, sim }) => (sim ? `${line_id} (SIM ${sim})` : line_id))
      .join(', '),
    sims: (sims as Fields[]).map(({ sim, ends }) => (ends ? `${sim} (…${ends})` : `${sim}`)).join(', '),
  }),
  examples: ['', '--json'],
})

const lineUnpair = command({
  name: 'line unpair',
  summary: 'Remove a paired phone; its token ends at once, its lines stay',
  positional: 'phone',
  request: 'DELETE /admin/phones/:id',
  loss: () => 'The phone loses its access, and the messages of its lines wait for another phone.',
  record: (_answer, { positionals }) => ({ id: positionals[0], removed: true }),
  examples: ['4fT0aQ81ZkQ2xW9bLr7TnD'],
})

export const PAIRING_COMMANDS: readonly Command[] = [linePair, linePhones, lineUnpair]
