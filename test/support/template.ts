import pg from 'pg'

/** The database that the others are copies of. */
export const TEMPLATE = 'trunkline_template'

/** A database that has grown beyond this is not used again: its dead rows would slow down the next tests. */
const MAX_BYTES = 30_000_000

/** Makes a database on the server of that URL and answers its own URL. */
export async function createDatabaseNamed(adminUrl: string, name: string, template: string): Promise<string> {
  await onServer(adminUrl, `create database ${name} template ${template}`)
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  return url.href
}

/** Keeps the rows that the migrations wrote, and how many tables and indexes there are, in a schema beside. */
export async function rememberFresh(url: string): Promise<void> {
  await onServer(
    url,
    `do $$ declare name text; has_rows boolean; begin
       create schema fresh;
       for name in select tablename from pg_tables where schemaname = 'public' loop
         execute format('select exists (select from %I)', name) into has_rows;
         if has_rows then execute format('create table fresh.%I as table public.%I', name, name); end if;
       end loop;
       create table fresh.shape as
         select count(*) as relations from pg_class where relnamespace = 'public'::regnamespace;
     end $$`,
  )
}

/**
 * Makes a database as it was when it was copied: a tenth of the work of dropping it and copying another. False when
 * a test has changed its schema or settings, or when it has grown.
 */
export async function refresh(url: string): Promise<boolean> {
  const [, , [row] = []] = await onServer(
    url,
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid();
     do $$ declare name text; begin
       perform set_config('lock_timeout', '5s', true);
       perform set_config('session_replication_role', 'replica', true);
       for name in select tablename from pg_tables where schemaname = 'public' loop
         execute format('delete from %I', name);
         if to_regclass(format('fresh.%I', name)) is not null then
           execute format('insert into %I select * from fresh.%I', name, name);
         end if;
       end loop;
       for name in select sequencename from pg_sequences where schemaname = 'public' loop
         perform setval(format('%I', name)::regclass, 1, false);
       end loop;
     end $$;
     select relations = (select count(*) from pg_class where relnamespace = 'public'::regnamespace)
       and not exists (select from pg_db_role_setting join pg_database on oid = setdatabase
                       where datname = current_database())
       and pg_database_size(current_database()) < ${MAX_BYTES} as is_fresh
     from fresh.shape`,
  )
  return row?.is_fresh === true
}

/** Runs SQL on a connection of its own; the rows of each statement. */
export async function onServer(url: string, sql: string): Promise<Record<string, unknown>[][]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return [await client.query(sql)].flat().map(({ rows }) => rows)
  } finally {
    await client.end()
  }
}
