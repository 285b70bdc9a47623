import { Icon } from '../../ui/icon'
import { hueOf, initialsOf } from './names'

interface Props {
  handle: string
  name: string
  isGroup?: boolean
}

export function Avatar({ handle, name, isGroup = false }: Props) {
  const initials = initialsOf(name)
  return (
    <span
      className={`center avatar ${name ? '' : 'unnamed'}`}
      style={{ ['--hue' as string]: hueOf(handle) }}
      aria-hidden="true"
    >
      {initials && !isGroup ? initials : <Icon name={isGroup ? 'users' : 'contacts'} />}
    </span>
  )
}
