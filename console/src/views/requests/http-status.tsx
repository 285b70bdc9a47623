import { Badge } from '../../ui/badge'

export function HttpStatus({ status }: { status: number }) {
  return <Badge tone={status < 400 ? 'good' : status < 500 ? 'warn' : 'bad'}>{status}</Badge>
}
