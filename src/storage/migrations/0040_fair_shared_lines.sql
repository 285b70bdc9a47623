-- Accounts of a shared line have held conversations and daily counts of their own.
create table holds_of_accounts (
  line_id text not null,
  conversation text not null,
  account_id text not null,
  group_id text,
  alternations bigint not null,
  held_at bigint not null,
  held_until bigint not null,
  primary key (line_id, conversation, account_id)
);
insert into holds_of_accounts (line_id, conversation, account_id, group_id, alternations, held_at, held_until)
  select line_id, conversation, account_id, group_id, alternations, held_at, held_until from conversation_holds;
drop table conversation_holds;
alter table holds_of_accounts rename to conversation_holds;
create index conversation_holds_end on conversation_holds (held_until);
create index conversation_holds_account on conversation_holds (account_id);

create table days_of_accounts (
  line_id text not null,
  account_id text not null,
  day bigint not null,
  sent bigint not null,
  primary key (line_id, account_id)
);
-- What a shared line sent on the day of the migration cannot be divided any more.
insert into days_of_accounts (line_id, account_id, day, sent)
  select d.line_id, l.account_id, d.day, d.sent from line_days d join lines l on l.id = d.line_id
  where l.account_id is not null;
drop table line_days;
alter table days_of_accounts rename to line_days;
create index line_days_account on line_days (account_id);
