-- Limits of an account that differ from those of its plan, as JSON by the budget's name.
alter table accounts add column budgets text not null default '{}';
create table plans (name text primary key, budgets text not null);

-- What an account has in store, counted in the transaction that stores or removes it.
create table account_totals (
  account_id text not null,
  name text not null,
  n bigint not null,
  primary key (account_id, name)
);
insert into account_totals (account_id, name, n)
  select account_id, 'media', sum(size) from media group by account_id;
insert into account_totals (account_id, name, n)
  select account_id, 'scheduled', count(*) from messages where due_at is not null group by account_id;
