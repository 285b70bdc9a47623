import { meaningOf } from './codec/status.js'

/** Why there is no connection, in words, and what to do about it. */
export interface Trouble {
  what: string
  advice?: string
}

const CERTIFICATE: Trouble = {
  what: "nobody we trust has signed the carrier's certificate",
  advice: "Put the certificate of the carrier's authority (PEM) into tls_ca.",
}
const NOT_TLS: Trouble = {
  what: 'the carrier does not speak TLS on that port',
  advice: 'Ask the carrier for its TLS port, or set tls to false.',
}

const BY_CODE: Readonly<Record<string, Trouble>> = {
  ECONNREFUSED: {
    what: 'nobody listens at that address and port',
    advice: 'Check host and port, and whether the carrier lets your address in.',
  },
  ENOTFOUND: { what: 'there is no such host name', advice: 'Check the spelling of host.' },
  EAI_AGAIN: {
    what: 'the host name cannot be looked up right now',
    advice: 'Check that this machine can resolve names.',
  },
  EHOSTUNREACH: { what: 'the host cannot be reached', advice: 'Check host, and the network in between.' },
  ENETUNREACH: { what: 'the network of the host cannot be reached', advice: 'Check the network.' },
  ETIMEDOUT: { what: 'the host does not answer', advice: 'Check host and port, and firewalls in between.' },
  ECONNRESET: {
    what: 'the carrier cut the connection',
    advice: 'Check whether the carrier lets your address in, and whether that port wants TLS.',
  },
  EPROTO: NOT_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NOT_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NOT_TLS,
  DEPTH_ZERO_SELF_SIGNED_CERT: CERTIFICATE,
  SELF_SIGNED_CERT_IN_CHAIN: CERTIFICATE,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: CERTIFICATE,
  UNABLE_TO_GET_ISSUER_CERT: CERTIFICATE,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: CERTIFICATE,
  CERT_HAS_EXPIRED: {
    what: "the carrier's certificate has expired",
    advice: 'Tell the carrier; meanwhile nothing says that it is really them.',
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    what: "the carrier's certificate is for another name",
    advice: 'Use the name that the certificate has as host, or set tls_name to it.',
  },
}

/** What a socket said as it failed. */
export function troubleOf(error: Error): Trouble {
  const { code } = error as { code?: string }
  return BY_CODE[code ?? ''] ?? { what: error.message || code || 'the connection failed' }
}

const REFUSALS: Readonly<Record<number, Trouble>> = {
  5: {
    what: 'the carrier says that this system_id is bound already',
    advice:
      'Another program uses it, or an earlier connection has not ended yet: wait a minute, or ask the carrier how many connections it allows.',
  },
  13: {
    what: 'the carrier refuses the bind without saying why',
    advice: 'Ask the carrier whether the account is open, from your address, for this kind of bind.',
  },
  14: { what: 'the carrier does not accept the password', advice: 'Check password.' },
  15: { what: 'the carrier does not know the system_id', advice: 'Check system_id.' },
  83: { what: 'the carrier does not accept the system_type', advice: 'Ask the carrier which one it wants.' },
  88: { what: 'the carrier says that we try too often', advice: 'Wait a minute.' },
}

/** What the carrier's answer to a bind means. */
export function refusalOf(status: number): Trouble {
  const { name } = meaningOf(status)
  const known = REFUSALS[status] ?? { what: 'the carrier refuses the bind', advice: 'Ask the carrier why.' }
  return { ...known, what: `${known.what} (${name})` }
}
