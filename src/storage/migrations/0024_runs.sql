-- The test run that something belongs to, so that several runs on one world stay apart; null for most.
alter table messages add column run text;
alter table phone_messages add column run text;
alter table phones add column run text;
create index messages_run on messages (account_id, run, created_at) where run is not null; -- only: sqlite
create index messages_run on messages (account_id, run, created_at, id) where run is not null; -- only: postgres
create index phone_messages_run on phone_messages (network, run) where run is not null;
create index phones_run on phones (network, run) where run is not null;
