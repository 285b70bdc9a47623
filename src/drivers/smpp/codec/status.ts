/** How to react to a command_status. */
export type Verdict = 'ok' | 'slower' | 'later' | 'never' | 'unbound'

interface Meaning {
  name: string
  verdict: Verdict
}

/** SMPP 3.4, table 5-2. Other values are carrier-specific and count as final. */
const MEANINGS: Readonly<Record<number, Meaning>> = {
  0: { name: 'ESME_ROK', verdict: 'ok' },
  1: { name: 'ESME_RINVMSGLEN', verdict: 'never' },
  2: { name: 'ESME_RINVCMDLEN', verdict: 'never' },
  3: { name: 'ESME_RINVCMDID', verdict: 'never' },
  4: { name: 'ESME_RINVBNDSTS', verdict: 'unbound' },
  5: { name: 'ESME_RALYBND', verdict: 'later' },
  6: { name: 'ESME_RINVPRTFLG', verdict: 'never' },
  7: { name: 'ESME_RINVREGDLVFLG', verdict: 'never' },
  8: { name: 'ESME_RSYSERR', verdict: 'slower' },
  10: { name: 'ESME_RINVSRCADR', verdict: 'never' },
  11: { name: 'ESME_RINVDSTADR', verdict: 'never' },
  12: { name: 'ESME_RINVMSGID', verdict: 'never' },
  13: { name: 'ESME_RBINDFAIL', verdict: 'later' },
  14: { name: 'ESME_RINVPASWD', verdict: 'never' },
  15: { name: 'ESME_RINVSYSID', verdict: 'never' },
  20: { name: 'ESME_RMSGQFUL', verdict: 'slower' },
  21: { name: 'ESME_RINVSERTYP', verdict: 'never' },
  51: { name: 'ESME_RINVNUMDESTS', verdict: 'never' },
  52: { name: 'ESME_RINVDLNAME', verdict: 'never' },
  67: { name: 'ESME_RINVESMCLASS', verdict: 'never' },
  68: { name: 'ESME_RCNTSUBDL', verdict: 'never' },
  69: { name: 'ESME_RSUBMITFAIL', verdict: 'later' },
  72: { name: 'ESME_RINVSRCTON', verdict: 'never' },
  73: { name: 'ESME_RINVSRCNPI', verdict: 'never' },
  80: { name: 'ESME_RINVDSTTON', verdict: 'never' },
  81: { name: 'ESME_RINVDSTNPI', verdict: 'never' },
  83: { name: 'ESME_RINVSYSTYP', verdict: 'never' },
  84: { name: 'ESME_RINVREPFLAG', verdict: 'never' },
  85: { name: 'ESME_RINVNUMMSGS', verdict: 'never' },
  88: { name: 'ESME_RTHROTTLED', verdict: 'slower' },
  97: { name: 'ESME_RINVSCHED', verdict: 'never' },
  98: { name: 'ESME_RINVEXPIRY', verdict: 'never' },
  99: { name: 'ESME_RINVDFTMSGID', verdict: 'never' },
  100: { name: 'ESME_RX_T_APPN', verdict: 'later' },
  101: { name: 'ESME_RX_P_APPN', verdict: 'never' },
  102: { name: 'ESME_RX_R_APPN', verdict: 'never' },
  103: { name: 'ESME_RQUERYFAIL', verdict: 'later' },
  192: { name: 'ESME_RINVOPTPARSTREAM', verdict: 'never' },
  193: { name: 'ESME_ROPTPARNOTALLWD', verdict: 'never' },
  194: { name: 'ESME_RINVPARLEN', verdict: 'never' },
  195: { name: 'ESME_RMISSINGOPTPARAM', verdict: 'never' },
  196: { name: 'ESME_RINVOPTPARAMVAL', verdict: 'never' },
  254: { name: 'ESME_RDELIVERYFAILURE', verdict: 'never' },
  255: { name: 'ESME_RUNKNOWNERR', verdict: 'never' },
}

export function meaningOf(status: number): Meaning {
  const hex = `0x${status.toString(16).padStart(8, '0').toUpperCase()}`
  return MEANINGS[status] ?? { name: hex, verdict: 'never' }
}
