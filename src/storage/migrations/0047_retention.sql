-- How many days accounts keep their data, for accounts that do not keep everything.
create table retention_policies (
  account_id text primary key,
  -- JSON: days by kind of data.
  days text not null,
  -- When a process looks at the account next. Until then the account belongs to the process that set the time.
  due_at bigint not null,
  -- The attempts of messages up to this place in the order of their last changes are removed.
  attempts_at bigint not null,
  attempts_id bigint not null
);
create index retention_policies_due on retention_policies (due_at);
-- Media of an account, oldest first.
drop index media_account;
create index media_account on media (account_id, created_at, name);
