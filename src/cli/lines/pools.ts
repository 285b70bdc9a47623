import { type Args, onePositional, repeatable, texts, UsageError } from '../args.js'
import { ApiError, type Call } from '../client.js'
import { type Command, command, type Fields } from '../command.js'

const LINES = repeatable('a line of the pool, by its number or id')

/** The ids of the lines that were named. */
async function linesIn(args: Args, call: Call): Promise<string[] | undefined> {
  const named = texts(args, 'line')
  if (named.length === 0) return undefined
  const { data } = await call<{ data: Fields[] }>('GET', '/admin/lines')
  return named.map((one) => {
    const found = data.filter(({ id, number }) => id === one || number === one)
    if (found.length === 1) return String(found[0]!.id)
    throw new ApiError(
      found.length === 0
        ? `There is no line ${one}`
        : `Several lines have the number ${one}; name one by its id: ${found.map(({ id }) => id).join(', ')}`,
    )
  })
}

const row = ({ lines, ...pool }: Fields): Fields => ({
  ...pool,
  lines: (lines as Fields[]).map(({ number }) => number).join(', '),
})

export const POOL_COMMANDS: readonly Command[] = [
  command({
    name: 'pool create',
    summary: 'Let several lines send as one: each conversation stays on the line that it began on',
    positional: 'name',
    options: { line: LINES },
    examples: ['phones --line +12025550110 --line +12025550111'],
    request: 'POST /admin/pools',
    async body(args, call) {
      const lines = await linesIn(args, call)
      if (!lines) throw new UsageError('Name the lines of the pool: --line +12025550110 --line +12025550111')
      return { name: onePositional(args, 'name of the pool'), lines }
    },
    record: row,
  }),
  command({
    name: 'pool list',
    summary: 'List sender pools',
    examples: ['', '--json'],
    request: 'GET /admin/pools',
    columns: 'id name account_id lines',
    row,
  }),
  command({
    name: 'pool set',
    summary: 'Change the name of a pool, or which lines it has',
    positional: 'id',
    options: { name: 'new name', line: LINES },
    examples: ['<id> --name "shop phones"', '<id> --line +12025550110 --line +12025550112'],
    request: 'PATCH /admin/pools/:id',
    async body(args, call) {
      return { name: args.values.name, lines: await linesIn(args, call) }
    },
    record: row,
  }),
  command({
    name: 'pool remove',
    summary: 'Remove a pool; its lines stay, each for itself',
    positional: 'id',
    request: 'DELETE /admin/pools/:id',
    loss: () => 'Conversations no longer stay on the line that they began on.',
    record: (_answer, { positionals }) => ({ id: positionals[0], removed: true }),
    examples: ['4fT0aQ81ZkQ2xW9bLr7TnD'],
  }),
]
