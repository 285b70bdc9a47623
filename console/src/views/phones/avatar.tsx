import { Icon } from '../../ui/icon'
import { hueOf, initialsOf } from './names'

export function Avatar({ handle, name, group = false }: { handle: string; name: string; group?: boolean }) {
  const initials = initialsOf(name)
  return (
    <span
      className={`avatar ${name ? '' : 'nobody'}`}
      style={{ ['--hue' as string]: hueOf(handle) }}
      aria-hidden="true"
    >
      {initials && !group ? initials : <Icon name={group ? 'users' : 'contacts'} />}
    </span>
  )
}
