import type { ReactNode } from 'react'
import { Link, navigate } from '../router'
import { SkeletonRows } from './skeleton'

export interface Column<T> {
  title: string
  cell: (row: T) => ReactNode
  align?: 'right'
}

/** `link` makes a row open something: its first cell is the link, the rest of the row follows the mouse. */
export function Table<T>({
  label,
  columns,
  rows,
  rowKey,
  link,
  empty,
}: {
  label: string
  columns: readonly Column<T>[]
  /** Undefined while they are on their way. */
  rows: readonly T[] | undefined
  rowKey: (row: T) => string
  link?: (row: T) => string
  empty: ReactNode
}) {
  if (rows === undefined) return <SkeletonRows />
  if (rows.length === 0) return empty
  return (
    <div className="table-wrap">
      <table className="table" aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ title, align }) => (
              <th key={title} scope="col" className={align}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={rowKey(row)}
              className={link ? 'opens' : undefined}
              onClick={
                link &&
                ((event) => {
                  if (!(event.target as HTMLElement).closest('a, button, input, label')) navigate(link(row))
                })
              }
            >
              {columns.map(({ title, cell, align }, index) => (
                <td key={title} className={align}>
                  {index === 0 && link ? <Link to={link(row)}>{cell(row)}</Link> : cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
