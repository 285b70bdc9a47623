import { useNow } from '../../../api/clock'
import { useLines } from '../../../api/lines'
import { Button } from '../../../ui/button'
import { CopyButton } from '../../../ui/code'
import { Icon } from '../../../ui/icon'
import { QrCode } from '../../../ui/qr/qr-code'
import { WebLink } from '../../../ui/url'
import { type PairedPhone, type Pairing, simText, usePairedPhone } from './data'

interface Props {
  pairing: Pairing
  isBusy: boolean
  onRenew: () => void
  onClose: () => void
}

/** Steps on the phone, and whether it has used the code. */
export function PairingSteps({ pairing, isBusy, onRenew, onClose }: Props) {
  const isPaired = (phone: PairedPhone) =>
    phone.paired_at !== pairing.paired_at && phone.code_expires_at === null
  const { phone, isDone } = usePairedPhone(pairing.id, isPaired)
  const now = useNow(1000)
  const left = Math.max(0, Date.parse(pairing.code_expires_at ?? '') - now)
  const isReplaced = phone !== undefined && phone.code_expires_at !== pairing.code_expires_at
  const isOver = left === 0 || isReplaced
  const done = isDone ? phone : undefined
  return (
    <div className="column form">
      {!done && <Steps url={pairing.api_url ?? ''} code={isOver ? undefined : pairing.code} />}
      <div className="row pairing-state" aria-live="polite">
        {done ? (
          <Paired phone={done} />
        ) : isOver ? (
          'The code does not work any more.'
        ) : (
          'Waiting for the phone.'
        )}
        {!done && !isOver && (
          <span className="faint small" role="timer" aria-live="off">
            The code works for {clockLeft(left)}
          </span>
        )}
      </div>
      <div className="form-foot">
        {!done && (
          <Button disabled={isBusy} onClick={onRenew}>
            New code
          </Button>
        )}
        <Button variant="primary" onClick={onClose}>
          {done ? 'Done' : 'Close'}
        </Button>
      </div>
    </div>
  )
}

function Steps({ url, code }: { url: string; code: string | undefined }) {
  return (
    <ol className="pairing-steps">
      <li>
        On the phone, install <WebLink url="https://sms-gate.app">SMSGate</WebLink>. In its settings, open{' '}
        <b>Cloud server</b>.
      </li>
      <li>
        Set <b>API URL</b> to
        <div className="row">
          <code className="pairing-address grow">{url}</code>
          <CopyButton text={url} label="Copy" />
        </div>
        <div className="row">
          <QrCode text={url} label="QR code of the address" />
          <p className="faint small">
            SMSGate cannot scan. The camera of the phone can: point it at this code, copy the address and
            paste it into the app.
          </p>
        </div>
      </li>
      <li>
        Set <b>Notification channel</b> to <b>SSE Only</b>.
      </li>
      <li>
        On the home screen, turn on <b>Cloud server</b>, tap <b>Offline</b>, choose the tab <b>By Code</b>,
        and type
        <div className={code ? 'pairing-code' : 'pairing-code faint'}>{code ?? '––––––'}</div>
      </li>
      <li>Exclude the app from battery optimization, and turn RCS chats off.</li>
    </ol>
  )
}

function Paired({ phone }: { phone: PairedPhone }) {
  const lines = useLines().data ?? []
  const numbers = phone.lines.flatMap(({ line_id, sim }) => {
    const line = lines.find((one) => one.line_id === line_id)
    return line ? [{ number: line.number, sim }] : []
  })
  const other = numbers.find(({ number, sim }) => {
    const { ends = '' } = phone.sims.find((one) => sim === null || one.sim === sim) ?? {}
    return ends !== '' && !number.endsWith(ends)
  })
  return (
    <div className="column">
      <p className="row good pairing-done">
        <Icon name="check" />
        <b>The phone is paired</b>
      </p>
      <p className="muted small">
        {[phone.name, simText(phone)].filter(Boolean).join(', ')}. Its line goes online within seconds.
      </p>
      {other && phone.sims.length === 1 && (
        <p className="field-error">
          The line is {other.number}, but the number of the SIM ends in {phone.sims[0]?.ends}. Check which one
          is right.
        </p>
      )}
    </div>
  )
}

/** Minutes and seconds, such as 9:05. */
function clockLeft(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
