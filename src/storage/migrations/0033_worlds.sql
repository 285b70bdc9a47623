-- Who made a world: an account's id, or 'admin'. Null for an ordinary account.
alter table accounts add column owner text;
create index accounts_owner on accounts (owner) where owner is not null;
