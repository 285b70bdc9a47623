import { inField, whole } from '../args.js'
import { type Command, command } from '../command.js'

const LIMIT = whole('rows; default 100, at most 500', 1)

export const ALERT_COMMANDS: readonly Command[] = [
  command({
    name: 'alerts',
    summary: 'List the alerts of the account: lines, queues, webhooks and quotas that need attention',
    options: { limit: LIMIT },
    examples: ['', '--json'],
    request: 'GET /v3/alerts',
    columns: 'alert since summary',
  }),
  command({
    name: 'alerts all',
    summary: 'List the alerts of all accounts',
    options: { account: inField('account_id', 'only this account'), limit: LIMIT },
    examples: ['', '--account 4fT0aQ81Zk'],
    request: 'GET /admin/alerts',
    columns: 'account_id alert since summary',
  }),
]
