import { hash } from 'node:crypto'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { variable } from '../../config.js'
import { isLoopback } from '../../core/url.js'
import { type Args, flag, repeatable, text, texts, UsageError, whole } from '../args.js'
import { ApiError, serverOf } from '../client.js'
import { command } from '../command.js'
import { readSecret } from '../webhooks/webhooks.js'
import type { HttpOptions } from './http.js'

const CAPS = { perHour: 30, perRecipient: 10 } as const
const MIN_SECRET = 16

export const mcp = command({
  name: 'mcp',
  summary: 'Let an AI agent send texts for the account: an MCP server with an allow-list and caps',
  as: 'account',
  options: {
    allow: repeatable(
      'a number it may write to, or a prefix like +1202* (TRUNKLINE_MCP_ALLOW, separated by commas)',
    ),
    'only-listed': flag('do not allow people who have written to the line (default: they may be answered)'),
    'max-per-hour': whole(
      `messages per hour in total, counting each person of a group; default ${CAPS.perHour}`,
    ),
    'max-per-recipient': whole(`messages per hour to one person; default ${CAPS.perRecipient}`),
    'read-only': flag('only tools that change nothing'),
    state: 'folder with the record of sends (TRUNKLINE_MCP_STATE; default ~/.local/state/trunkline)',
    http: flag('Streamable HTTP instead of standard input and output'),
    host: 'with --http: address to listen on; default 127.0.0.1',
    port: {
      ...whole('with --http: port; default 4041'),
      demand: 'must be a whole number from 0 to 65535',
      parse: (value) => (/^\d{1,5}$/.test(value) && Number(value) <= 65_535 ? Number(value) : undefined),
    },
    'secret-file':
      'with --http: file with the bearer token of clients (TRUNKLINE_MCP_SECRET); required beyond loopback',
    'allow-host': repeatable('with --http: a host name of the server'),
    'allow-origin': repeatable('with --http: origin of web pages that may call it'),
  },
  examples: [
    '',
    '--allow +12025550101 --allow +4930* --max-per-hour 5',
    '--read-only',
    '--http --port 4041',
    'TRUNKLINE_MCP_SECRET="$(openssl rand -hex 32)" trunkline mcp --http --host 0.0.0.0 --allow-host sms.example.com',
  ],
  async run(args, call) {
    const { values, io } = args
    const http = values.http === true ? await httpOptions(args) : undefined
    // The MCP SDK loads slowly, and no other command needs it.
    const [{ createGuard }, { openLedger }, { serveStdio, TOOLS }] = await Promise.all([
      import('./guard.js'),
      import('./ledger.js'),
      import('./server.js'),
    ])
    const listed = [...texts(args, 'allow'), ...(io.env.TRUNKLINE_MCP_ALLOW ?? '').split(',')]
    const guard = createGuard(listed, values['only-listed'] !== true)
    const tools = TOOLS.filter(({ isWriting }) => !isWriting || values['read-only'] !== true)
    const caps = {
      perHour: (values['max-per-hour'] as number | undefined) ?? CAPS.perHour,
      perRecipient: (values['max-per-recipient'] as number | undefined) ?? CAPS.perRecipient,
    }
    const file = stateFile(args)
    const ledger = await openLedger(file, caps).catch((error) => {
      throw new ApiError(
        `${file} cannot be used (${(error as Error).message}), and the caps depend on it. Choose another folder with --state.`,
      )
    })
    try {
      const desk = { args, call, guard, ledger }
      if (http) await (await import('./http.js')).serveHttp(desk, tools, http)
      else await serveStdio(desk, tools)
    } finally {
      ledger.close()
    }
  },
})

async function httpOptions(args: Args): Promise<HttpOptions> {
  const host = text(args, 'host') ?? '127.0.0.1'
  const port = (args.values.port as number | undefined) ?? 4041
  const file = text(args, 'secret-file')
  const secret =
    file === undefined
      ? (variable(args.io.env, 'TRUNKLINE_MCP_SECRET') ?? null)
      : await readSecret(args, file)
  if (secret === null && !isLoopback(host))
    throw new UsageError(
      `Other machines can reach ${host}: set TRUNKLINE_MCP_SECRET or --secret-file to a bearer token for clients`,
    )
  if (secret !== null && (secret.length < MIN_SECRET || /\s/.test(secret)))
    throw new UsageError(`The secret must have at least ${MIN_SECRET} characters and no spaces`)
  const allowHosts = texts(args, 'allow-host').map((one) => one.toLowerCase())
  return { host, port, secret, allowHosts, allowOrigins: texts(args, 'allow-origin') }
}

/** One file for each server and key, so that the caps hold for all processes that use the key. */
function stateFile(args: Args): string {
  const { url, who } = serverOf(args, 'live')
  const home = args.io.env.XDG_STATE_HOME || join(homedir(), '.local', 'state')
  const folder = text(args, 'state') ?? args.io.env.TRUNKLINE_MCP_STATE ?? join(home, 'trunkline')
  const name = hash('sha256', JSON.stringify([new URL(url).href, who]), 'hex').slice(0, 16)
  return join(folder, `mcp-${name}.db`)
}
