import { meaningOf } from './codec/status.js'

/** Why a connection failed, and what to do about it. */
export interface Trouble {
  what: string
  advice?: string
}

const CERTIFICATE: Trouble = {
  what: "the carrier's certificate is signed by an unknown authority",
  advice: "Set tls_ca to the certificate of the carrier's authority, in PEM format.",
}
const NOT_TLS: Trouble = {
  what: 'the carrier does not speak TLS on this port',
  advice: 'Ask the carrier for its TLS port, or set tls to false.',
}

const BY_CODE: Readonly<Record<string, Trouble>> = {
  ECONNREFUSED: {
    what: 'the host refuses connections on this port',
    advice: 'Check host and port, and ask the carrier whether it allows your IP address.',
  },
  ENOTFOUND: { what: 'the host name does not exist', advice: 'Check the spelling of host.' },
  EAI_AGAIN: {
    what: 'the host name cannot be looked up right now',
    advice: 'Check the DNS settings of this machine.',
  },
  EHOSTUNREACH: { what: 'the host cannot be reached', advice: 'Check host and the network in between.' },
  ENETUNREACH: { what: 'the network of the host cannot be reached', advice: 'Check the network.' },
  ETIMEDOUT: { what: 'the host does not answer', advice: 'Check host, port and firewalls in between.' },
  ECONNRESET: {
    what: 'the carrier reset the connection',
    advice: 'Ask the carrier whether it allows your IP address, and whether this port requires TLS.',
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
    advice: 'Ask the carrier to renew it.',
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    what: "the carrier's certificate is for another name",
    advice: 'Set host or tls_name to the name in the certificate.',
  },
}

/** Explains a socket error. */
export function troubleOf(error: Error): Trouble {
  const { code } = error as { code?: string }
  return BY_CODE[code ?? ''] ?? { what: error.message || code || 'the connection failed' }
}

const REFUSALS: Readonly<Record<number, Trouble>> = {
  5: {
    what: 'this system_id is already bound',
    advice:
      'Another program uses it, or an earlier connection has not ended yet. Wait a minute, or ask the carrier how many connections it allows.',
  },
  13: {
    what: 'the carrier refused the bind without a reason',
    advice:
      'Ask the carrier whether the account is active and allows this type of bind from your IP address.',
  },
  14: { what: 'the carrier does not accept the password', advice: 'Check password.' },
  15: { what: 'the carrier does not know the system_id', advice: 'Check system_id.' },
  83: {
    what: 'the carrier does not accept the system_type',
    advice: 'Ask the carrier for the right system_type.',
  },
  88: { what: 'the carrier limits connection attempts', advice: 'Wait a minute.' },
}

/** Explains the carrier's refusal of a bind. */
export function refusalOf(status: number): Trouble {
  const { name } = meaningOf(status)
  const known = REFUSALS[status] ?? { what: 'the carrier refused the bind', advice: 'Ask the carrier why.' }
  return { ...known, what: `${known.what} (${name})` }
}
