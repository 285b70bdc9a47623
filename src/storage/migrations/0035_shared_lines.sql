-- The last message of each account to a person on a shared line: the person's answer goes to the account with the
-- latest one. Handles sort by the time they were made.
create table line_turns (
  line_id text not null,
  contact text not null,
  account_id text not null,
  handle text not null, -- only: sqlite
  handle text collate "C" not null, -- only: postgres
  primary key (line_id, contact, account_id)
); -- only: postgres
) without rowid; -- only: sqlite
insert into line_turns (line_id, contact, account_id, handle)
  select line_id, contact, account_id, max(handle) from messages
  where is_outbound = 1 and opted_out = 0 and group_id is null
    and line_id in (select id from lines where kind = 'shared')
  group by line_id, contact, account_id;
create index line_turns_account on line_turns (account_id);

-- The first text to a shared line may reach several accounts, and each has it as a message of its own.
drop index messages_provider;
create unique index messages_provider on messages (line_id, provider_id, account_id) where provider_id is not null;

-- line_id: the shared line whose STOP it was; empty: the account's own. everywhere: whether the account may not write
-- to the person from any line, or only not from that shared line.
create table opt_outs_of_lines (
  account_id text not null,
  number text not null,
  line_id text not null,
  everywhere bigint not null,
  opted_out_at bigint not null,
  primary key (account_id, number, line_id)
);
insert into opt_outs_of_lines select account_id, number, '', 1, opted_out_at from opt_outs;
drop table opt_outs;
alter table opt_outs_of_lines rename to opt_outs;
create index opt_outs_line on opt_outs (line_id, number) where line_id <> '';
