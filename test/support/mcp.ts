import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { startCliHere } from './cli.js'
import { atEndOfFile } from './leftovers.js'
import { eventually, type RunningCli, startCli } from './server.js'
import { signalAfterUs } from './watchdog.js'
import type { Json } from './world.js'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** A client of the official SDK and what it got, ready to look at. */
export interface McpClient {
  client: Client
  /** The structured result of a tool; fails when the tool did. */
  ask(tool: string, input?: Json): Promise<Json>
  /** The refusal of a tool; fails if the tool worked. */
  refusal(tool: string, input?: Json): Promise<Json>
  close(): Promise<void>
}

/** `trunkline mcp` over its standard streams, in this process. */
export async function stdioClient(args: string[], env: Record<string, string>): Promise<McpClient> {
  const { stdin, stdout, exitCode } = startCliHere(['mcp', ...args], env)
  const client = new Client({ name: 'test', version: '1' })
  // The SDK's transport for a server is one for a client that has the other ends.
  await client.connect(new StdioServerTransport(stdout, stdin))
  return wrap(client, async () => {
    await client.close()
    stdin.end()
    await exitCode
  })
}

/** `trunkline mcp` in a process of its own, as agents start it. */
export async function spawnedClient(args: string[], env: Record<string, string>): Promise<McpClient> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp', ...args],
    env: { PATH: process.env.PATH!, ...env },
    stderr: 'inherit',
  })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  const hasEnded = signalAfterUs(transport.pid!, 'SIGKILL')
  return wrap(client, () => client.close().finally(hasEnded))
}

const HTTP = ['mcp', '--http', '--port', '0', '--json']

/** URL of `trunkline mcp --http` on a free port, in this process until the test file ends. */
export async function httpServer(args: string[], env: Record<string, string>): Promise<string> {
  const { stdout, signal, exitCode } = startCliHere([...HTTP, ...args], env)
  atEndOfFile(() => {
    signal()
    return exitCode
  })
  const [line] = await once(stdout, 'data')
  return JSON.parse(line).url
}

/** `trunkline mcp --http` in a process of its own, and its URL. */
export async function spawnedHttpServer(
  args: string[],
  env: Record<string, string>,
): Promise<{ url: string; cli: RunningCli }> {
  const cli = startCli([...HTTP, ...args], env)
  const out = await eventually(
    async () => cli.stdout + cli.stderr,
    (text) => text.includes('\n'),
  )
  return { url: JSON.parse(out).url, cli }
}

export async function httpClient(url: string, headers: Record<string, string> = {}): Promise<McpClient> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }) as never)
  return wrap(client, async () => client.close())
}

async function wrap(client: Client, close: () => Promise<void>): Promise<McpClient> {
  // Only a client that has seen the tools checks what they answer against their schemas.
  await client.listTools()
  const call = async (name: string, input: Json = {}): Promise<Json> =>
    client.callTool({ name, arguments: input })
  return {
    client,
    async ask(name, input) {
      const result = await call(name, input)
      if (result.isError) throw new Error(`${name} was refused: ${result.content[0].text}`)
      if (result.content[0].text !== JSON.stringify(result.structuredContent))
        throw new Error('Text and structure differ')
      return result.structuredContent
    },
    async refusal(name, input) {
      const result = await call(name, input)
      if (!result.isError) throw new Error(`${name} was not refused: ${result.content[0].text}`)
      return JSON.parse(result.content[0].text)
    },
    close,
  }
}
