import type { ReactNode } from 'react'
import { Button } from '../../ui/button'
import { CopyButton } from '../../ui/code'
import { Dialog } from '../../ui/dialog'
import { Form } from '../../ui/form'

interface Props<T> {
  kind: 'key' | 'token'
  create: { data: T | undefined; isPending: boolean; mutate: () => void }
  /** The values to copy, by their labels. */
  values: (created: T) => Record<string, string>
  onClose: () => void
  /** The fields of the form. */
  children: ReactNode
}

/** Creates a key or token, then shows its secret. The server cannot show the secret again. */
export function CreateDialog<T>({ kind, create, values, onClose, children }: Props<T>) {
  const title = create.data ? `${kind === 'key' ? 'Key' : 'Token'} created` : `Create ${kind}`
  return (
    <Dialog title={title} onClose={onClose}>
      {create.data ? (
        <div className="column form">
          <p className="row once">
            Copy the {kind === 'key' ? 'secret' : 'token'} now. Trunkline stores only its hash and cannot show
            it again.
          </p>
          {Object.entries(values(create.data)).map(([name, value]) => (
            <div key={name} className="column field">
              <span className="field-label">{name}</span>
              <div className="row">
                <code className="secret grow" data-secret={name}>
                  {value}
                </code>
                <CopyButton text={value} label="Copy" />
              </div>
            </div>
          ))}
          <div className="form-foot">
            <Button variant="primary" onClick={onClose}>
              Done
            </Button>
          </div>
        </div>
      ) : (
        <Form action="Create" isBusy={create.isPending} onSubmit={create.mutate} onClose={onClose}>
          {children}
        </Form>
      )}
    </Dialog>
  )
}
