import { useMemo, useState } from 'react'
import { useNow } from '../../../api/clock'
import { useLineNumbers } from '../../../api/lines'
import type { Phone } from '../../../api/types'
import { Button } from '../../../ui/button'
import { Toggle } from '../../../ui/form'
import { Icon } from '../../../ui/icon'
import { clockTime } from '../../../ui/time'
import { useCall, useGroups, useInbox } from '../data'
import { groupName, type NameOf, prettyNumber } from '../names'
import { threadsOf } from '../threads'
import { usePhoneActions } from './actions'
import { CallScreen } from './call-screen'
import { NewGroup } from './new-group'
import { PhoneThread } from './phone-thread'
import { SettingsScreen } from './settings-screen'
import { ThreadList } from './thread-list'

type Screen = { on: 'threads' | 'settings' | 'group' } | { on: 'thread'; key: string }

/** A virtual phone with its screen and switches. */
export function Handset({ phone, nameOf, hide }: { phone: Phone; nameOf: NameOf; hide: () => void }) {
  const { data: inbox } = useInbox(phone.number)
  const { data: allGroups } = useGroups()
  const lines = useLineNumbers()
  const call = useCall(phone.number)
  const actions = usePhoneActions(phone.number)
  const [chosen, setChosen] = useState<Screen | null>(null)
  const handles = [phone.number, phone.email]
  const groups = (allGroups ?? []).filter(({ members }) => members.some((one) => handles.includes(one)))
  const threads = useMemo(
    () =>
      threadsOf(inbox?.data ?? [], groups, (line, group) =>
        group ? groupName(group, phone.number, line, nameOf) : prettyNumber(line),
      ),
    [inbox, groups, phone.number, nameOf],
  )
  const unread = threads.reduce((sum, thread) => sum + thread.unread, 0)
  const first = threads[0]?.key ?? lines[0]
  const screen: Screen = chosen ?? (first ? { on: 'thread', key: first } : { on: 'threads' })
  const open = screen.on === 'thread' ? threads.find((one) => one.key === screen.key) : undefined
  const name = phone.name || prettyNumber(phone.number)
  const shared = { phone, lines, actions }

  return (
    <section className={`column handset ${phone.power ? '' : 'off'}`} aria-label={`${name}'s phone`}>
      <header className="row handset-head">
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
          aria-label={`Hide ${name}'s phone`}
          onClick={hide}
        />
      </header>
      <div className="frame">
        <div className="column screen">
          {phone.power ? (
            <>
              <StatusBar phone={phone} />
              {call ? (
                <CallScreen call={call} caller={prettyNumber(call.number)} onAction={actions.changeCall} />
              ) : screen.on === 'settings' ? (
                <SettingsScreen {...shared} onClose={() => setChosen(null)} />
              ) : screen.on === 'group' ? (
                <NewGroup {...shared} onClose={() => setChosen({ on: 'threads' })} />
              ) : screen.on === 'thread' ? (
                <PhoneThread
                  key={screen.key}
                  phone={phone}
                  thread={open}
                  line={open?.line ?? screen.key}
                  isTyping={inbox?.typing.includes(open?.line ?? screen.key) === true && !open?.group}
                  nameOf={nameOf}
                  actions={actions}
                  onBack={() => setChosen({ on: 'threads' })}
                />
              ) : (
                <ThreadList
                  threads={threads}
                  lines={lines}
                  onOpen={(key) => setChosen({ on: 'thread', key })}
                  onNewGroup={() => setChosen({ on: 'group' })}
                />
              )}
            </>
          ) : (
            <div className="column black">
              <p>Switched off</p>
              <p className="small">Messages arrive when it is on again.</p>
              <Button onClick={() => actions.change({ power: true })}>Switch on</Button>
            </div>
          )}
        </div>
      </div>
      <div className="switches">
        <Toggle
          label="iMessage"
          checked={phone.imessage}
          onChange={(imessage) => actions.change({ imessage })}
        />
        <Toggle label="RCS" checked={phone.rcs} onChange={(rcs) => actions.change({ rcs })} />
        <Toggle label="On" checked={phone.power} onChange={(power) => actions.change({ power })} />
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
