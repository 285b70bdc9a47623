import './phones.css'
import './bubble/bubbles.css'
import './bubble/effects.css'
import { useEffect, useMemo, useRef, useState } from 'react'
import { ApiError } from '../../api/client'
import { useLiveEvents } from '../../api/live'
import type { Phone } from '../../api/types'
import { useQueryParam } from '../../router'
import { TITLE } from '../../shell/title'
import { Button } from '../../ui/button'
import { EmptyState, Failure, SkeletonRows } from '../../ui/state'
import { AddPhone } from './add-phone'
import { AppPanel } from './app-panel'
import { usePhones, useScreenChanges } from './data'
import { Handset } from './handset/handset'
import { namerOf } from './names'
import { WorldControls } from './world-controls'

const SHOWN_FIRST = 3
const MAX_SHOWN = 6

/** The virtual phones and your app: both ends of every conversation. */
export default function PhonesView() {
  const { data: phones, error, refetch } = usePhones()
  const [param, setParam] = useQueryParam('show')
  const [app, setApp] = useQueryParam('app', 'on')
  const [isAdding, setAdding] = useState(false)
  useScreenChanges()
  useUnseenCount()
  const nameOf = useMemo(() => namerOf(phones ?? []), [phones])
  if (!phones) return error ? <NoPhones error={error} retry={refetch} /> : <SkeletonRows />

  const shown = shownOf(phones, param)
  const show = (numbers: readonly string[]) => setParam(numbers.join(',') || 'none')
  const numbers = shown.map(({ number }) => number)
  const toggle = (number: string) =>
    show(
      numbers.includes(number)
        ? numbers.filter((one) => one !== number)
        : [...numbers, number].slice(-MAX_SHOWN),
    )

  return (
    <div className="column phones-page">
      <div className="row wrap phones-bar" role="toolbar" aria-label="Visible phones">
        <button
          type="button"
          className="phone-chip"
          aria-pressed={app === 'on'}
          onClick={() => setApp(app === 'on' ? 'off' : 'on')}
        >
          Your app
        </button>
        <span className="bar-rule" />
        {phones.map((phone) => (
          <button
            key={phone.number}
            type="button"
            className={`phone-chip ${phone.power ? '' : 'asleep'}`}
            aria-pressed={numbers.includes(phone.number)}
            onClick={() => toggle(phone.number)}
          >
            <span className={`chip-dot ${phone.imessage ? 'imessage' : phone.rcs ? 'rcs' : 'sms'}`} />
            {nameOf(phone.number)}
          </button>
        ))}
        <Button size="small" icon="plus" onClick={() => setAdding(true)}>
          Add phone
        </Button>
        <WorldControls />
      </div>
      <div className="phones-row">
        {app === 'on' && <AppPanel phones={phones} nameOf={nameOf} />}
        {shown.map((phone) => (
          <Handset key={phone.number} phone={phone} nameOf={nameOf} hide={() => toggle(phone.number)} />
        ))}
        {shown.length === 0 && app !== 'on' && (
          <EmptyState icon="phones" title="No phone selected">
            Select phones above, or add one.
          </EmptyState>
        )}
      </div>
      {isAdding && (
        <AddPhone
          suggestion={freeNumber(phones)}
          onAdd={(number) => {
            setAdding(false)
            show([...numbers, number].slice(-MAX_SHOWN))
          }}
          onClose={() => setAdding(false)}
        />
      )}
    </div>
  )
}

function shownOf(phones: readonly Phone[], param: string): Phone[] {
  if (param === '') return phones.filter(({ power }) => power).slice(0, SHOWN_FIRST)
  const numbers = param.split(',')
  return numbers
    .flatMap((number) => phones.find((phone) => phone.number === number) ?? [])
    .slice(0, MAX_SHOWN)
}

/** The first unused number of the range for examples. */
function freeNumber(phones: readonly Phone[]): string {
  const taken = new Set(phones.map(({ number }) => number))
  for (let last = 106; last < 190; last++) {
    const number = `+12025550${last}`
    if (!taken.has(number)) return number
  }
  return '+12025550199'
}

/** Counts messages in the title of the tab while it is hidden. */
function useUnseenCount(): void {
  const unseen = useRef(0)
  useLiveEvents(({ type }) => {
    if (document.visibilityState === 'visible' || !['message.received', 'message.created'].includes(type))
      return
    TITLE.setUnseen(++unseen.current)
  })
  useEffect(() => {
    const reset = () => {
      if (document.visibilityState !== 'visible') return
      unseen.current = 0
      TITLE.setUnseen(0)
    }
    document.addEventListener('visibilitychange', reset)
    return () => {
      document.removeEventListener('visibilitychange', reset)
      TITLE.setUnseen(0)
    }
  }, [])
}

function NoPhones({ error, retry }: { error: Error; retry: () => unknown }) {
  if (!(error instanceof ApiError && error.status === 404)) return <Failure error={error} retry={retry} />
  return (
    <EmptyState icon="phones" title="This account has no virtual phones">
      Its lines are real. Sign in with a test key to use virtual phones.
    </EmptyState>
  )
}
