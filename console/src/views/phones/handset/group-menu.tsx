import { useState } from 'react'
import { Button } from '../../../ui/button'
import { Input } from '../../../ui/field'
import { Icon } from '../../../ui/icon'
import type { PhoneActions } from './actions'

/** Renames or leaves a group. */
export function GroupMenu({ id, name, actions }: { id: string; name: string; actions: PhoneActions }) {
  const [isOpen, setOpen] = useState(false)
  const [text, setText] = useState(name)
  return (
    <div className="popover-anchor">
      <button
        type="button"
        className="in-phone-button"
        aria-label="Group"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="settings" />
      </button>
      {isOpen && (
        <form
          className="popover stack group-form"
          onKeyDown={(event) => event.key === 'Escape' && setOpen(false)}
          onSubmit={(event) => {
            event.preventDefault()
            actions.renameGroup({ id, name: text.trim() })
            setOpen(false)
          }}
        >
          <Input
            aria-label="Group name"
            placeholder="Group name"
            value={text}
            maxLength={100}
            onChange={setText}
          />
          <Button type="submit" size="small">
            Rename
          </Button>
          <Button
            size="small"
            onClick={() => {
              actions.leaveGroup(id)
              setOpen(false)
            }}
          >
            Leave group
          </Button>
        </form>
      )}
    </div>
  )
}
