import { hash } from 'node:crypto'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isLoopback } from '../../config.js'
import { ACCOUNT_OPTIONS, ApiError, serverOf, withAccount } from '../client.js'
import { type Args, type Command, noPositionals, text, texts, UsageError } from '../command.js'
import { readSecret } from '../webhooks/webhooks.js'
import type { HttpOptions } from './http.js'

const CAPS = { 'max-per-hour': 30, 'max-per-recipient': 10 } as const
const MIN_SECRET = 16

export const mcp: Command = {
  name: 'mcp',
  summary: 'Let an AI agent text through the account: an MCP server with an allow-list and caps',
  options: {
    allow: {
      type: 'string',
      multiple: true,
      help: 'a number it may write to, or the beginning of some like +1202*; repeatable (TRUNKLINE_MCP_ALLOW, with commas)',
    },
    'only-listed': {
      type: 'boolean',
      help: 'not even to those who have written to the line (default: those may be answered)',
    },
    'max-per-hour': {
      type: 'string',
      help: `messages an hour in all, each person of a group counting; default ${CAPS['max-per-hour']}`,
    },
    'max-per-recipient': {
      type: 'string',
      help: `messages an hour to one person; default ${CAPS['max-per-recipient']}`,
    },
    'read-only': { type: 'boolean', help: 'only tools that change nothing' },
    state: {
      type: 'string',
      help: 'folder that remembers what was sent (TRUNKLINE_MCP_STATE; default ~/.local/state/trunkline)',
    },
    http: { type: 'boolean', help: 'Streamable HTTP instead of the standard streams' },
    host: { type: 'string', help: 'with --http: address to listen on; default 127.0.0.1' },
    port: { type: 'string', help: 'with --http: port; default 4041' },
    'secret-file': {
      type: 'string',
      help: 'with --http: file with what callers must show as bearer token (TRUNKLINE_MCP_SECRET); needed beyond loopback',
    },
    'allow-host': {
      type: 'string',
      multiple: true,
      help: 'with --http: a name that the server is called by; repeatable',
    },
    'allow-origin': {
      type: 'string',
      multiple: true,
      help: 'with --http: origin of web pages that may call it; repeatable',
    },
    ...ACCOUNT_OPTIONS,
  },
  examples: [
    'trunkline mcp',
    'trunkline mcp --allow +12025550101 --allow +4930* --max-per-hour 5',
    'trunkline mcp --read-only',
    'trunkline mcp --http --port 4041',
    'TRUNKLINE_MCP_SECRET="$(openssl rand -hex 32)" trunkline mcp --http --host 0.0.0.0 --allow-host sms.example.com',
  ],
  async run(args) {
    noPositionals(args)
    const caps = { perHour: whole(args, 'max-per-hour'), perRecipient: whole(args, 'max-per-recipient') }
    const http = args.values.http === true ? await httpOptions(args) : undefined
    // The SDK takes a while to load, and no other command needs it.
    const [{ createGuard }, { openLedger }, { serveStdio, TOOLS }] = await Promise.all([
      import('./guard.js'),
      import('./ledger.js'),
      import('./server.js'),
    ])
    const listed = [...texts(args, 'allow'), ...(args.io.env.TRUNKLINE_MCP_ALLOW ?? '').split(',')]
    const guard = createGuard(listed, args.values['only-listed'] !== true)
    const tools = TOOLS.filter(({ isReading }) => isReading || args.values['read-only'] !== true)
    const file = stateFile(args)
    const ledger = await openLedger(file, caps).catch((error) => {
      throw new ApiError(
        `The folder of ${file} cannot be used (${(error as Error).message}). Without it no cap could be kept; name another with --state.`,
      )
    })
    try {
      await withAccount(args, async (call) => {
        const desk = { args, call, guard, ledger }
        if (!http) return serveStdio(desk, tools)
        const { serveHttp } = await import('./http.js')
        return serveHttp(desk, tools, http)
      })
    } finally {
      ledger.close()
    }
  },
}

function whole(args: Args, name: keyof typeof CAPS): number {
  const value = text(args, name)
  if (value === undefined) return CAPS[name]
  if (!/^\d{1,9}$/.test(value)) throw new UsageError(`--${name} must be a whole number`)
  return Number(value)
}

async function httpOptions(args: Args): Promise<HttpOptions> {
  const host = text(args, 'host') ?? '127.0.0.1'
  const port = Number(text(args, 'port') ?? 4041)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError('--port must be a whole number from 0 to 65535')
  const file = text(args, 'secret-file')
  const secret =
    file === undefined ? (args.io.env.TRUNKLINE_MCP_SECRET ?? null) : await readSecret(args, file)
  if (secret === null && !isLoopback(host))
    throw new UsageError(
      `Others can reach ${host}: set TRUNKLINE_MCP_SECRET or --secret-file, which callers must then show as bearer token`,
    )
  if (secret !== null && (secret.length < MIN_SECRET || /\s/.test(secret)))
    throw new UsageError(`The secret must have at least ${MIN_SECRET} characters and no spaces`)
  const allowHosts = texts(args, 'allow-host').map((one) => one.toLowerCase())
  return { host, port, secret, allowHosts, allowOrigins: texts(args, 'allow-origin') }
}

/** One for each server and key: whoever acts as the same account shares the same caps. */
function stateFile(args: Args): string {
  const { url, who } = serverOf(args, 'live')
  const home = args.io.env.XDG_STATE_HOME || join(homedir(), '.local', 'state')
  const folder = text(args, 'state') ?? args.io.env.TRUNKLINE_MCP_STATE ?? join(home, 'trunkline')
  const name = hash('sha256', JSON.stringify([new URL(url).href, who]), 'hex').slice(0, 16)
  return join(folder, `mcp-${name}.db`)
}
