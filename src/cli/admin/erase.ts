import { inField, onePositional, text, whole } from '../args.js'
import { type Command, command, type Fields } from '../command.js'

const COUNTED = (item: Fields) => ({
  ...item,
  rows: Object.values(item.counts as Record<string, number>).reduce((sum, n) => sum + n, 0),
})

export const ERASE_COMMANDS: readonly Command[] = [
  command({
    name: 'erase',
    summary: 'Erase a person: everything that the database holds of a phone number or e-mail address',
    positional: 'number or e-mail address',
    options: { account: inField('account_id', 'only in this account and its worlds; default: everywhere') },
    examples: ['+12025550101', 'ada@example.com --account 4fT0aQ81Zk --yes'],
    request: 'POST /admin/erasures',
    loss: (args) =>
      `This erases ${personOf(args)} ${text(args, 'account') === undefined ? 'in every account' : `in the account ${text(args, 'account')}`}:` +
      ' messages, media, contacts, calls and everything else that is stored. It cannot be undone. An opt-out stays in force.',
    body: (args) => {
      const account = text(args, 'account')
      return { person: personOf(args), ...(account === undefined ? {} : { account_id: account }) }
    },
  }),
  command({
    name: 'erase list',
    summary: 'List erasures, newest first',
    options: { limit: whole('rows; default 50, at most 500', 1) },
    examples: ['', '--json'],
    request: 'GET /admin/erasures',
    columns: 'id hint account_id state step rows requested_at finished_at',
    row: COUNTED,
  }),
  command({
    name: 'erase show',
    summary: 'Show how far an erasure is, and what it has removed so far',
    positional: 'id',
    examples: ['0199f0a2-7b1c-7d1e-a2f3-6d1c8e0b9a44'],
    request: 'GET /admin/erasures/:id',
  }),
]

const personOf = (args: Parameters<typeof onePositional>[0]) =>
  onePositional(args, 'number or e-mail address')
