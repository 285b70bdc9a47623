-- Media we serve. The name is the secret part of its URL; the bytes lie beside, in files or chunks.
create table media (
  name text primary key,
  id text not null,
  account_id text not null,
  source text not null check (source in ('upload', 'inbound')),
  extension text not null,
  size bigint not null,
  created_at bigint not null
);
create unique index media_id on media (id);
create index media_age on media (source, created_at);

-- With PostgreSQL the bytes lie in the database, where every process can read them.
create table media_chunks (name text not null, n bigint not null, data bytea not null, primary key (name, n)); -- only: postgres
-- Pictures and films are compressed already.
alter table media_chunks alter column data set storage external; -- only: postgres
-- Chunks that are being written: gone when the media is there. What stays was left by a crash.
create table media_drafts (name text primary key, started_at bigint not null); -- only: postgres
create index media_drafts_age on media_drafts (started_at); -- only: postgres
