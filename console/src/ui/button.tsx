import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { Link } from '../router'
import { Icon, type IconName } from './icon'

interface Look {
  variant?: 'primary' | 'secondary' | 'ghost' | 'danger'
  size?: 'small'
  icon?: IconName
}

type Props = Look & Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'className'> & { className?: string }

function classesOf({ variant = 'secondary', size, icon }: Look, children: ReactNode, extra = ''): string {
  return ['button', variant, size ?? '', icon && !children ? 'square' : '', extra].filter(Boolean).join(' ')
}

/** With an icon only it needs an `aria-label`; that is its tooltip, too. */
export function Button({ variant, size, icon, className, children, ...rest }: Props) {
  return (
    <button
      type="button"
      title={children ? undefined : rest['aria-label']}
      {...rest}
      className={classesOf({ variant, size, icon }, children, className)}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

export function LinkButton({ to, children, ...look }: Look & { to: string; children: ReactNode }) {
  return (
    <Link to={to} className={classesOf(look, children)}>
      {look.icon && <Icon name={look.icon} />}
      {children}
    </Link>
  )
}
