/** Values of `target_session_attrs` that mean a server that can write; Trunkline needs no other. */
const WRITABLE = ['read-write', 'primary', 'any']

/**
 * The URL of each host in a PostgreSQL URL, which may name several (`postgres://user:secret@a:5432,b:5432/db`). Throws
 * with words about a URL that cannot be used.
 */
export function hostUrls(url: string): string[] {
  const [, scheme, login = '', hosts, rest] = /^(postgres(?:ql)?:\/\/)(.*@)?([^/?]*)(.*)$/s.exec(url) ?? []
  if (scheme === undefined) throw new Error('must start with postgres:// or postgresql://')
  const [path, query = ''] = rest!.split(/\?(.*)/s) as [string, string?]
  const settings = new URLSearchParams(query)
  const attribute = settings.get('target_session_attrs')
  if (attribute !== null && !WRITABLE.includes(attribute))
    throw new Error(
      `has target_session_attrs=${attribute}, which leads to servers that cannot write; use read-write`,
    )
  settings.delete('target_session_attrs')
  const tail = settings.size > 0 ? `${path}?${settings}` : path
  return hosts!.split(',').map((host) => {
    const one = `${scheme}${login}${host}${tail}`
    // A path of a socket stands in the query, with no host.
    if (host !== '' && !URL.canParse(one))
      throw new Error(
        `has "${host}" where a host should be, or a login with characters that are not percent-encoded`,
      )
    return one
  })
}
