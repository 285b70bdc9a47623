import { rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { makePrivateFolder } from '../../base/private-files.js'
import { flag } from '../args.js'
import { ApiError, serverOf } from '../client.js'
import { command } from '../command.js'
import { note, printRecord } from '../output.js'

/** The file that existing command lines read when they sign in, with the fields they expect in it. */
export const credentialsWrite = command({
  name: 'credentials write',
  summary: 'Write the credentials file that existing command lines for this API read',
  as: 'account',
  options: {
    dir: 'folder of the file credentials.json (SENDBLUE_CONFIG_DIR; default ~/.sendblue)',
    from: 'line to send from, E.164; default the first line of the account',
    force: flag('replace an existing file'),
  },
  examples: ['', '--dir ./.sendblue --force', '--from +12025550100'],
  async run(args, call) {
    const { env } = args.io
    const { url, credentials } = serverOf(args, 'live')
    const { 'sb-api-key-id': apiKey, 'sb-api-secret-key': apiSecret } = credentials
    if (!apiKey || !apiSecret)
      throw new ApiError(
        'A credentials file holds a key, not a token. Unset TRUNKLINE_TOKEN and set TRUNKLINE_API_KEY_ID and TRUNKLINE_API_SECRET_KEY.',
      )
    const { email, plan, created_at } = await call<{ email: string; plan: string; created_at: string }>(
      'GET',
      '/account',
    )
    const { numbers } = await call<{ numbers: string[] }>('GET', '/api/lines')
    const assignedNumber = (args.values.from as string | undefined) ?? numbers[0] ?? ''
    if (assignedNumber !== '' && !numbers.includes(assignedNumber))
      throw new ApiError(
        `--from: ${assignedNumber} is not a line of this account. Its lines: ${numbers.join(', ')}.`,
      )
    const given = (args.values.dir as string | undefined) ?? env.SENDBLUE_CONFIG_DIR
    const folder = given ? resolve(given) : join(env.HOME ?? homedir(), '.sendblue')
    const file = join(folder, 'credentials.json')
    const written = { apiKey, apiSecret, email, assignedNumber, plan, createdAt: created_at }
    await write(folder, file, `${JSON.stringify(written, null, 2)}\n`, args.values.force === true)
    printRecord(args, { file, api_key: apiKey, email, assigned_number: assignedNumber })
    note(args, `Set SENDBLUE_API_BASE=${url} so that the command line calls this server.`)
  },
})

/** Only the owner may read the file, whatever the umask, and a reader never finds half of it. */
async function write(folder: string, file: string, text: string, force: boolean): Promise<void> {
  makePrivateFolder(folder)
  if (!force)
    return writeFile(file, text, { mode: 0o600, flag: 'wx' }).catch((error) => {
      if (error.code !== 'EEXIST') throw error
      throw new ApiError(`${file} exists. Add --force to replace it.`)
    })
  const draft = `${file}.new`
  await rm(draft, { force: true })
  await writeFile(draft, text, { mode: 0o600, flag: 'wx' })
  await rename(draft, file)
}
