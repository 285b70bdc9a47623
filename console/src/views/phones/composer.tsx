import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import type { Service } from '../../api/types'
import { Button } from '../../ui/button'
import { Icon } from '../../ui/icon'
import { notify } from '../../ui/toast'
import { EFFECTS, effectName } from './bubble/effects'
import type { Bubble } from './model'

export interface Draft {
  text: string
  file: File | null
  effect: string
  replyTo: Bubble | null
}

const STOPS_AFTER_MS = 4000
const MAX_BYTES = 10_000_000

/** Where somebody types: Enter sends, Shift and Enter begins a new line. */
export function Composer({
  label,
  placeholder,
  service,
  disabled = false,
  replyTo,
  onCancelReply,
  onTyping,
  onSend,
}: {
  label: string
  placeholder: string
  /** How it would go: the colour of the button. */
  service: Service
  disabled?: boolean
  replyTo: Bubble | null
  onCancelReply: () => void
  onTyping?: (typing: boolean) => void
  onSend: (draft: Draft) => void
}) {
  const [text, setText] = useState('')
  const [file, setFile] = useState<File | null>(null)
  const [effect, setEffect] = useState('')
  const picker = useRef<HTMLInputElement>(null)
  const field = useRef<HTMLTextAreaElement>(null)
  const typing = useTyping(onTyping)
  useEffect(() => {
    if (replyTo) field.current?.focus()
  }, [replyTo])

  const send = () => {
    if (disabled || (!text.trim() && !file)) return
    typing(false)
    onSend({ text: text.trim(), file, effect, replyTo })
    setText('')
    setFile(null)
    setEffect('')
  }
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  const pick = (picked: File | undefined) => {
    if (!picked) return
    if (picked.size > MAX_BYTES) notify('The file is larger than 10 MB', 'bad')
    else setFile(picked)
  }

  return (
    <div className="composer">
      {replyTo && (
        <Chip label={`Replying to: ${replyTo.text || 'a message'}`} remove={onCancelReply} what="reply" />
      )}
      {file && <Chip label={file.name} remove={() => setFile(null)} what="attachment" />}
      {effect && <Chip label={effectName(effect)} remove={() => setEffect('')} what="effect" />}
      <div className="composer-line">
        <input
          ref={picker}
          type="file"
          hidden
          onChange={(event) => {
            pick(event.target.files?.[0])
            event.target.value = ''
          }}
        />
        <Button
          variant="ghost"
          size="small"
          icon="plus"
          aria-label="Attach media"
          disabled={disabled}
          onClick={() => picker.current?.click()}
        />
        <label className="effect-picker" title="Send with effect">
          <span className="visually-hidden">Send with effect</span>
          <Icon name="sparkles" />
          <select value={effect} disabled={disabled} onChange={(event) => setEffect(event.target.value)}>
            <option value="">No effect</option>
            {EFFECTS.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <textarea
          ref={field}
          className="composer-field"
          rows={1}
          aria-label={label}
          placeholder={placeholder}
          value={text}
          disabled={disabled}
          maxLength={18_995}
          onChange={(event) => {
            setText(event.target.value)
            typing(event.target.value !== '')
          }}
          onKeyDown={press}
          onBlur={() => typing(false)}
        />
        <button
          type="button"
          className={`send ${service.toLowerCase()}`}
          aria-label="Send"
          disabled={disabled || (!text.trim() && !file)}
          onClick={send}
        >
          <Icon name="send" />
        </button>
      </div>
    </div>
  )
}

function Chip({ label, what, remove }: { label: string; what: string; remove: () => void }) {
  return (
    <div className="chip">
      <span className="truncate">{label}</span>
      <button type="button" aria-label={`Remove the ${what}`} onClick={remove}>
        <Icon name="close" />
      </button>
    </div>
  )
}

/** Says once that typing began, and that it ended when nothing was typed for a while. */
function useTyping(tell: ((typing: boolean) => void) | undefined) {
  const state = useRef({ typing: false, timer: 0 })
  const latest = useRef(tell)
  latest.current = tell
  const set = useRef((typing: boolean) => {
    const now = state.current
    clearTimeout(now.timer)
    if (typing) now.timer = window.setTimeout(() => set(false), STOPS_AFTER_MS)
    if (typing === now.typing) return
    now.typing = typing
    latest.current?.(typing)
  }).current
  useEffect(() => () => set(false), [set])
  return set
}
