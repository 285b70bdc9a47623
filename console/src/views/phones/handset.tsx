import { useMemo, useState } from 'react'
import { useNow } from '../../api/clock'
import type { Phone } from '../../api/types'
import { Button } from '../../ui/button'
import { Icon } from '../../ui/icon'
import { clockTime } from '../../ui/time'
import { Toggle } from '../../ui/toggle'
import { usePhoneActs } from './acts'
import { CallScreen } from './call-screen'
import { useCall, useChats, useInbox, useLines } from './data'
import { threadsOf } from './model'
import { chatName, type Namer, prettyNumber } from './names'
import { NewGroup } from './new-group'
import { PhoneThread } from './phone-thread'
import { SettingsScreen } from './settings-screen'
import { ThreadList } from './thread-list'

type Screen = { on: 'threads' | 'settings' | 'group' } | { on: 'thread'; key: string }

/** One phone: what its owner sees, and its switches. */
export function Handset({ phone, nameOf, hide }: { phone: Phone; nameOf: Namer; hide: () => void }) {
  const { data: inbox } = useInbox(phone.number)
  const { data: allChats } = useChats()
  const { data: lines = [] } = useLines()
  const call = useCall(phone.number)
  const acts = usePhoneActs(phone.number)
  const [chosen, setChosen] = useState<Screen | null>(null)
  const handles = [phone.number, phone.email]
  const chats = (allChats ?? []).filter((chat) => chat.members.some((member) => handles.includes(member)))
  const threads = useMemo(
    () =>
      threadsOf(inbox?.data ?? [], chats, (line, chat) =>
        chat ? chatName(chat, phone.number, line, nameOf) : prettyNumber(line),
      ),
    [inbox, chats, phone.number, nameOf],
  )
  const unread = threads.reduce((sum, thread) => sum + thread.unread, 0)
  const first = threads[0]?.key ?? lines[0]
  const screen: Screen = chosen ?? (first ? { on: 'thread', key: first } : { on: 'threads' })
  const open = screen.on === 'thread' ? threads.find((one) => one.key === screen.key) : undefined
  const name = phone.name || prettyNumber(phone.number)

  return (
    <section className={`handset ${phone.power ? '' : 'off'}`} aria-label={`${name}'s phone`}>
      <header className="handset-head">
        <div className="grow">
          <h2 className="truncate">{name}</h2>
          <span className="faint small">{prettyNumber(phone.number)}</span>
        </div>
        {unread > 0 && <span className="unread-count">{unread} new</span>}
        <Button
          variant="ghost"
          size="small"
          icon="settings"
          aria-label={`Settings of ${name}'s phone`}
          aria-pressed={screen.on === 'settings'}
          disabled={!phone.power}
          onClick={() => setChosen(screen.on === 'settings' ? null : { on: 'settings' })}
        />
        <Button
          variant="ghost"
          size="small"
          icon="close"
          aria-label={`Put ${name}'s phone away`}
          onClick={hide}
        />
      </header>
      <div className="frame">
        <div className="screen">
          {phone.power ? (
            <>
              <StatusBar phone={phone} />
              {call ? (
                <CallScreen call={call} who={prettyNumber(call.number)} act={acts.onCall} />
              ) : screen.on === 'settings' ? (
                <SettingsScreen phone={phone} lines={lines} acts={acts} done={() => setChosen(null)} />
              ) : screen.on === 'group' ? (
                <NewGroup phone={phone} lines={lines} acts={acts} done={() => setChosen({ on: 'threads' })} />
              ) : screen.on === 'thread' ? (
                <PhoneThread
                  key={screen.key}
                  phone={phone}
                  thread={open}
                  line={open?.line ?? screen.key}
                  typing={inbox?.typing.includes(open?.line ?? screen.key) === true && !open?.group}
                  nameOf={nameOf}
                  acts={acts}
                  back={() => setChosen({ on: 'threads' })}
                />
              ) : (
                <ThreadList
                  threads={threads}
                  lines={lines}
                  open={(key) => setChosen({ on: 'thread', key })}
                  makeGroup={() => setChosen({ on: 'group' })}
                />
              )}
            </>
          ) : (
            <div className="black">
              <p>Switched off</p>
              <p className="small">What is sent to it waits.</p>
              <Button onClick={() => acts.switch({ power: true })}>Switch on</Button>
            </div>
          )}
        </div>
      </div>
      <div className="switches">
        <Toggle
          label="iMessage"
          checked={phone.imessage}
          onChange={(imessage) => acts.switch({ imessage })}
        />
        <Toggle label="RCS" checked={phone.rcs} onChange={(rcs) => acts.switch({ rcs })} />
        <Toggle label="On" checked={phone.power} onChange={(power) => acts.switch({ power })} />
      </div>
    </section>
  )
}

function StatusBar({ phone }: { phone: Phone }) {
  const now = useNow(5000)
  return (
    <div className="status-bar" aria-hidden="true">
      <span>{clockTime(now)}</span>
      <span className="island" />
      <span className="row">
        {phone.refuses && <Icon name="stop" />}
        <span>{phone.imessage ? 'iMessage' : phone.rcs ? 'RCS' : 'SMS'}</span>
      </span>
    </div>
  )
}
