-- Lines of an account that send as one. Each conversation stays on the line that it began on.
create table sender_pools (
  id text primary key,
  account_id text not null,
  name text not null,
  created_at bigint not null
);
create unique index sender_pools_name on sender_pools (account_id, name);

alter table lines add column pool_id text;
create index lines_pool on lines (pool_id) where pool_id is not null;

create table pool_conversations (
  pool_id text not null,
  contact text not null,
  account_id text not null,
  line_id text not null,
  placed_at bigint not null,
  primary key (pool_id, contact)
);
create index pool_conversations_account on pool_conversations (account_id, pool_id, contact);
