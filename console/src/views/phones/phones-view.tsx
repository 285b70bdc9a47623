import './phones.css'
import './bubble/bubbles.css'
import './bubble/effects.css'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useLiveEvents } from '../../api/live'
import type { Phone } from '../../api/types'
import { useQueryWord } from '../../router'
import { TITLE } from '../../shell/title'
import { Button } from '../../ui/button'
import { EmptyState, Failure } from '../../ui/empty-state'
import { SkeletonRows } from '../../ui/skeleton'
import { AddPhone } from './add-phone'
import { AppPanel } from './app-panel'
import { usePhones, useScreens } from './data'
import { Handset } from './handset'
import { namerOf } from './names'
import { WorldMenu } from './world-menu'

const AT_FIRST = 3
const AT_MOST = 6

/** The wall of phones: both ends of every conversation at once. */
export default function PhonesView() {
  const { data: phones, error, refetch } = usePhones()
  const [word, setWord] = useQueryWord('show')
  const [app, setApp] = useQueryWord('app', 'on')
  const [adding, setAdding] = useState(false)
  useScreens()
  useUnseen()
  const nameOf = useMemo(() => namerOf(phones ?? []), [phones])
  if (!phones) return error ? <NoWorld error={error} retry={() => void refetch()} /> : <SkeletonRows />

  const shown = shownOf(phones, word)
  const show = (numbers: readonly string[]) => setWord(numbers.join(',') || 'none')
  const numbers = shown.map(({ number }) => number)
  const toggle = (number: string) =>
    show(
      numbers.includes(number)
        ? numbers.filter((one) => one !== number)
        : [...numbers, number].slice(-AT_MOST),
    )

  return (
    <div className="wall">
      <div className="wall-bar" role="toolbar" aria-label="Phones shown">
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
          Add a phone
        </Button>
        <WorldMenu />
      </div>
      <div className="wall-phones">
        {app === 'on' && <AppPanel phones={phones} nameOf={nameOf} />}
        {shown.map((phone) => (
          <Handset key={phone.number} phone={phone} nameOf={nameOf} hide={() => toggle(phone.number)} />
        ))}
        {shown.length === 0 && app !== 'on' && (
          <EmptyState icon="phones" title="No phone is shown">
            Choose some above, or add one.
          </EmptyState>
        )}
      </div>
      {adding && (
        <AddPhone
          suggestion={freeNumber(phones)}
          added={(number) => {
            setAdding(false)
            show([...numbers, number].slice(-AT_MOST))
          }}
          onClose={() => setAdding(false)}
        />
      )}
    </div>
  )
}

function shownOf(phones: readonly Phone[], word: string): Phone[] {
  if (word === '') return phones.filter(({ power }) => power).slice(0, AT_FIRST)
  const wanted = word.split(',')
  return wanted.flatMap((number) => phones.find((phone) => phone.number === number) ?? []).slice(0, AT_MOST)
}

/** The first number of the range for examples that no phone has. */
function freeNumber(phones: readonly Phone[]): string {
  const taken = new Set(phones.map(({ number }) => number))
  for (let last = 106; last < 190; last++) {
    const number = `+12025550${last}`
    if (!taken.has(number)) return number
  }
  return '+12025550199'
}

/** Counts what happens while nobody looks, in the title of the tab. */
function useUnseen(): void {
  const unseen = useRef(0)
  useLiveEvents(({ type }) => {
    if (document.visibilityState === 'visible' || !['message.received', 'message.created'].includes(type))
      return
    TITLE.setUnseen(++unseen.current)
  })
  useEffect(() => {
    const look = () => {
      if (document.visibilityState !== 'visible') return
      unseen.current = 0
      TITLE.setUnseen(0)
    }
    document.addEventListener('visibilitychange', look)
    return () => {
      document.removeEventListener('visibilitychange', look)
      TITLE.setUnseen(0)
    }
  }, [])
}

function NoWorld({ error, retry }: { error: Error; retry: () => void }) {
  if (!/simulated line/.test(error.message)) return <Failure error={error} retry={retry} />
  return (
    <EmptyState icon="phones" title="This account has no virtual phones">
      Its lines are real. Sign in with a test key to work with virtual phones.
    </EmptyState>
  )
}
