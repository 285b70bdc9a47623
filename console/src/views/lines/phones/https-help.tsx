import { CodeBlock } from '../../../ui/code'

/** How phones can dial this server. */
export function HttpsHelp() {
  const port = location.port || (location.protocol === 'https:' ? '443' : '80')
  return (
    <div className="column form">
      <p className="muted">
        If the server has a name of its own, and ports 80 and 443 are open, a proxy gets the certificate by
        itself:
      </p>
      <CodeBlock
        label="Proxy with a certificate"
        code={`caddy reverse-proxy --from sms.example.com --to localhost:${port}`}
      />
      <p className="muted">
        Otherwise a tunnel gives it an https address. It must let event streams through:
      </p>
      <CodeBlock label="Tunnel" code={`tailscale funnel ${port}`} />
      <p className="muted">Then restart Trunkline with that address:</p>
      <CodeBlock label="Setting" code="TRUNKLINE_PUBLIC_URL=https://sms.example.com" />
    </div>
  )
}
