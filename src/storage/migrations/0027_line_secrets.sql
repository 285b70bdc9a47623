-- What a line's carrier must not be told by anybody else, sealed: see core/seal.ts. Its place in the line's own
-- settings is taken by a word that says so. `account_id` is empty: a line may be of several accounts.
create table line_secrets (
  line_id text primary key,
  account_id text not null default '',
  kid text not null,
  sealed text not null
);
create index line_secrets_kid on line_secrets (kid, line_id);

-- Counts the changes of a line's secrets, so that whoever drives the line notices.
alter table lines add column revision bigint not null default 0;
