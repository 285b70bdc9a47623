import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client'

export default function PhonesView() {
  const { data } = useQuery({
    queryKey: ['phones'],
    queryFn: () => api.get<{ data: { number: string; name: string }[] }>('/sim/phones'),
  })
  return (
    <div className="page">
      {data?.data.map((phone) => (
        <p key={phone.number}>{phone.name}</p>
      ))}
    </div>
  )
}
