import { whole } from '../args.js'
import { command } from '../command.js'

export const requests = command({
  name: 'requests',
  summary: "List the account's API calls of the last days, newest first",
  options: {
    status: 'only with this status, like 404, or class of statuses, like 4xx',
    path: 'only with paths that begin so, like /api/send-message',
    method: 'only with this HTTP method',
    since: 'only from this time on, ISO 8601',
    limit: { ...whole('how many at most (default 20, up to 1000)', 1), default: '20' },
  },
  examples: ['', '--status 4xx', '--path /api/send-message --json'],
  request: 'GET /v3/requests',
  columns: 'time method path status ms key error ignored',
  row: (request) => ({
    time: request.at,
    method: request.method,
    path: request.path,
    status: request.status,
    ms: Number(request.duration_ms).toFixed(1),
    key: request.key_id,
    error: request.error_message,
    ignored: request.ignored,
  }),
})
