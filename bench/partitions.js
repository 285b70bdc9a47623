// One table against partitions by time, in plain SQL: what partitions would cost the sends, and what they would save.
import pg from 'pg'
import { SPAN_MS, START } from './list.js'
import { median, percentile, round } from './stats.js'

const ROUNDS = 3
const CALLS = 300

/** Copies of `rows` messages: one with the indexes of the program, and one for each number of partitions. */
export async function comparePartitions(url, rows, say) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const layouts = [1, 10, 100].map((parts) => ({ parts, name: `copy_${parts}` }))
    const { n: all } = (await client.query('select count(*)::int as n from messages')).rows[0]
    const percent = Math.min(100, (100 * rows) / all)
    await client.query(`create temp table picked as select * from messages tablesample system (${percent})`)
    for (const layout of layouts) await createCopy(client, layout)
    const picked = (await client.query('select count(*)::int as n, min(account_id) as account from picked'))
      .rows[0]
    const { n: count, account } = picked
    const figures = {}
    for (const { name, parts } of layouts) {
      const insertMs = []
      const share = Math.floor(count / ROUNDS)
      for (let round = 0; round < ROUNDS; round++)
        insertMs.push(
          await timed(() =>
            client.query(
              `insert into ${name} select * from picked order by id limit ${share} offset ${round * share}`,
            ),
          ),
        )
      await client.query(`analyze ${name}`)
      const handles = await sample(client, name)
      figures[parts] = {
        insert_us: (median(insertMs) * 1000) / share,
        list_newest_p99_ms: await p99(client, () => [
          `select * from ${name} where account_id = $1 order by created_at desc, id desc limit 50`,
          [account],
        ]),
        list_person_p99_ms: await p99(client, (i) => [
          `select * from ${name} where account_id = $1 and contact = $2 order by created_at desc, id desc limit 50`,
          [account, handles[i].contact],
        ]),
        update_by_id_p99_ms: await p99(client, (i) => [
          `update ${name} set status = 'DELIVERED', version = version + 1 where id = $1`,
          [handles[i].id],
        ]),
        by_handle_p99_ms: await p99(client, (i) => [
          `select * from ${name} where handle = $1`,
          [handles[i].handle],
        ]),
      }
    }
    // Retention has removed some of the first tenth.
    const until = START + SPAN_MS / 5
    let deleted = 0
    const deleteMs = await timed(async () => {
      for (let n = 1; n > 0; deleted += n)
        n = (
          await client.query(
            `delete from copy_1 where id in (select id from copy_1 where account_id = $1 and created_at < ${until}
             order by created_at, id limit 100)`,
            [account],
          )
        ).rowCount
    })
    figures[1].remove_us = (deleteMs * 1000) / deleted
    figures[1].vacuum_ms = await timed(() => client.query('vacuum copy_1'))
    const { n: dropped } = (await client.query('select count(*)::int as n from copy_10_0')).rows[0]
    figures[10].remove_us = ((await timed(() => client.query('drop table copy_10_0'))) * 1000) / dropped
    for (const [parts, row] of Object.entries(figures))
      say(
        `retention, ${count} rows in ${parts} part${parts === '1' ? '' : 's'}: ${Object.entries(row)
          .map(([name, figure]) => `${name} ${round(figure, 3)}`)
          .join(', ')}`,
      )
  } finally {
    await client.end()
  }
}

/** Partitions by handle, which carries its time. A key that lacks the handle can no longer be unique. */
async function createCopy(client, { name, parts }) {
  const by = parts > 1 ? 'partition by range (handle)' : ''
  await client.query(`create table ${name} (like messages including defaults) ${by}`)
  const { rows } = await client.query(
    "select indexdef from pg_indexes where tablename = 'messages' order by indexname",
  )
  for (const { indexdef } of rows) {
    const own = indexdef.replace(/INDEX (\w+) ON public\.messages/, `INDEX ${name}_$1 ON ${name}`)
    const isUnique = parts === 1 || /\(handle\)/.test(own)
    await client.query(isUnique ? own : own.replace('UNIQUE ', ''))
  }
  if (parts === 1) return
  const { rows: ends } = await client.query(
    `select min(handle) as low from (select handle, ntile(${parts}) over (order by handle) as part from picked) t
     group by part order by part`,
  )
  const bounds = ['minvalue', ...ends.slice(1).map(({ low }) => `'${low}'`), 'maxvalue']
  for (let i = 0; i < parts; i++)
    await client.query(
      `create table ${name}_${i} partition of ${name} for values from (${bounds[i]}) to (${bounds[i + 1]})`,
    )
}

async function sample(client, name) {
  return (await client.query(`select id, handle, contact from ${name} order by random() limit ${CALLS + 30}`))
    .rows
}

async function p99(client, query) {
  const times = []
  for (let i = 0; i < CALLS + 30; i++) {
    const [text, values] = query(i)
    const ms = await timed(() => client.query({ name: text.slice(0, 60), text, values }))
    if (i >= 30) times.push(ms)
  }
  return percentile(times, 99)
}

async function timed(work) {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
