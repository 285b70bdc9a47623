import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { Link } from '../router'
import { Icon, type IconName } from './icon'

interface Look {
  variant?: 'primary' | 'secondary' | 'ghost' | 'danger'
  size?: 'small'
  icon?: IconName
}

function classesOf({ variant = 'secondary', size, icon }: Look, children: ReactNode): string {
  return ['button', variant, size, icon && !children && 'square'].filter(Boolean).join(' ')
}

/** A button with an icon only needs an `aria-label`, which is also its tooltip. */
export function Button({
  variant,
  size,
  icon,
  children,
  ...rest
}: Look & ButtonHTMLAttributes<HTMLButtonElement>) {
  return (
    <button
      type="button"
      title={children ? undefined : rest['aria-label']}
      {...rest}
      className={classesOf({ variant, size, icon }, children)}
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
