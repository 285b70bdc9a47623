// Caddy and nginx from Debian with our files, in front of a real server of ours.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { check, eventually, freePort, need, run, scratch } from './report.js'
import { ask, credentials, HELLO, runDocumented, start, startTrunkline } from './server.js'

/** Another address than that of the proxy, from which the client connects. */
const CLIENT = '127.0.0.2'
const UPLOAD_BYTES = 60_000_000
/** A proxy that buffers holds a small event for ever. */
const STREAM_MS = 10_000

export async function checkProxies() {
  for (const [name, startProxy] of Object.entries({ Caddy: startCaddy, nginx: startNginx })) {
    let server
    let proxy
    const isUp = await check(`${name} starts with our file, in front of a server`, async () => {
      need(name.toLowerCase(), 'openssl')
      const port = await freePort()
      server = await startTrunkline(name, { TRUNKLINE_PUBLIC_URL: `https://localhost:${port}` })
      proxy = { ...(await startProxy(port, server.port)), url: `https://localhost:${port}` }
      await eventually(async () => (await ask(`${proxy.url}/readyz`, { ca: proxy.ca() })).status === 200)
    })
    if (isUp) await checkProxy(name, server, { ...proxy, ca: proxy.ca() })
    await proxy?.process.stop()
    await server?.stop()
  }
}

async function checkProxy(name, { keys, url: direct }, { url, ca }) {
  const as = (kind) => ({ ca, headers: credentials(keys, kind) })
  const json = (fields, kind) => ({
    ...as(kind),
    method: 'POST',
    headers: { ...credentials(keys, kind), 'content-type': 'application/json' },
    body: JSON.stringify(fields),
  })

  await check(`${name}: the commands of "The first message" work through TLS`, async () => {
    const file = scratch(`${name}-ca.pem`)
    writeFileSync(file, ca)
    const said = await runDocumented('The first message', url, keys, { NODE_EXTRA_CA_CERTS: file })
    if (!said.includes(HELLO)) throw new Error(`the phone does not show the message:\n${said}`)
  })

  await check(`${name}: a stream gets an event while it is open`, async () => {
    let opened = () => {}
    const isOpen = new Promise((resolve) => {
      opened = resolve
    })
    const started = performance.now()
    let arrivedMs
    const stream = ask(`${url}/api/v2/events`, {
      ...as('live'),
      onText(text, request) {
        opened()
        if (!text.includes('through the stream')) return
        arrivedMs ??= Math.round(performance.now() - started)
        request.destroy()
      },
    }).catch((error) => error)
    await Promise.race([isOpen, new Promise((resolve) => setTimeout(resolve, STREAM_MS))])
    const send = { from_number: '+12025550100', number: '+12025550101', content: 'through the stream' }
    const { status, text } = await ask(`${url}/api/send-message`, json(send, 'live'))
    if (status !== 202) throw new Error(`the send got ${status}: ${text}`)
    await Promise.race([stream, new Promise((resolve) => setTimeout(resolve, STREAM_MS).unref())])
    if (arrivedMs === undefined) throw new Error(`no event within ${STREAM_MS / 1000} seconds`)
    return `after ${arrivedMs} ms`
  })

  await check(`${name}: an upload of ${UPLOAD_BYTES / 1e6} MB arrives`, async () => {
    const boundary = 'deploycheck'
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="film.mp4"\r\ncontent-type: video/mp4\r\n\r\n`
    const body = Buffer.concat([
      Buffer.from(head),
      Buffer.alloc(UPLOAD_BYTES),
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ])
    const headers = {
      ...credentials(keys, 'live'),
      'content-type': `multipart/form-data; boundary=${boundary}`,
    }
    const { status, text } = await ask(`${url}/api/upload-file`, { ca, method: 'POST', headers, body })
    if (status >= 300) throw new Error(`${status}: ${text}`)
  })

  await check(
    `${name}: the audit log has the client's address, also when the client forges one`,
    async () => {
      const request = json({ kind: 'admin' }, 'admin')
      request.headers['x-forwarded-for'] = '203.0.113.9'
      const { status } = await ask(`${url.replace('localhost', '127.0.0.1')}/admin/keys`, {
        ...request,
        headers: { ...request.headers, host: new URL(url).host },
        from: CLIENT,
      })
      if (status !== 201) throw new Error(`the change got ${status}`)
      const rows = await fetch(`${direct}/admin/audit?limit=1`, { headers: credentials(keys, 'admin') })
      const [{ address, forwarded_for: forwarded }] = (await rows.json()).data
      if (address !== CLIENT) throw new Error(`it has ${address}, from the header ${forwarded}`)
    },
  )

  await check(`${name}: metrics are not shown`, async () => {
    const { status } = await ask(`${url}/metrics`, { ca })
    if (status !== 404) throw new Error(`they got ${status}`)
  })
}

async function startCaddy(port, upstream) {
  const home = scratch('caddy-home')
  mkdirSync(home)
  const file = scratch('Caddyfile')
  // Without a domain, Caddy signs the certificate itself.
  const globals =
    '{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n\tdefault_sni localhost\n}\n'
  writeFileSync(file, globals + readFileSync('deploy/caddy/Caddyfile', 'utf8'))
  const env = {
    ...{ PATH: process.env.PATH, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home },
    ...{ DOMAIN: `localhost:${port}`, UPSTREAM: `127.0.0.1:${upstream}` },
  }
  const process_ = start('caddy', ['run', '--adapter', 'caddyfile', '--config', file], { env })
  return { process: process_, ca: () => readFileSync(`${home}/caddy/pki/authorities/local/root.crt`, 'utf8') }
}

async function startNginx(port, upstream) {
  const folder = scratch('nginx-files')
  mkdirSync(folder, { mode: 0o755 })
  const [key, cert] = [`${folder}/key.pem`, `${folder}/cert.pem`]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  await run('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-keyout',
    key,
    '-out',
    cert,
    ...subject,
  ])
  const ours = readFileSync('deploy/nginx/trunkline.conf', 'utf8')
    .replaceAll(/\/etc\/letsencrypt\/\S*fullchain\.pem/g, cert)
    .replaceAll(/\/etc\/letsencrypt\/\S*privkey\.pem/g, key)
    .replaceAll('sms.example.com', 'localhost')
    .replace('server 127.0.0.1:4040', `server 127.0.0.1:${upstream}`)
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('listen 80;', `listen 127.0.0.1:${await freePort()};`)
    .replaceAll(/ +listen \[::\].*\n/g, '')
  writeFileSync(`${folder}/trunkline.conf`, ours)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const main = `daemon off;\nerror_log stderr;\npid ${folder}/pid;\nevents {}\nhttp {\naccess_log off;\n${temporary.join('\n')}\ninclude ${folder}/trunkline.conf;\n}\n`
  writeFileSync(`${folder}/nginx.conf`, process.getuid() === 0 ? `user root;\n${main}` : main)
  await run('nginx', ['-t', '-q', '-c', `${folder}/nginx.conf`])
  return { process: start('nginx', ['-c', `${folder}/nginx.conf`]), ca: () => readFileSync(cert, 'utf8') }
}
