-- Equal messages without an id of the carrier's are told apart by number, so that two processes cannot both store one.
alter table unthanked_messages add column copy bigint not null default 0;
update unthanked_messages set copy = (
  select count(*) from unthanked_messages o
  where o.line_id = unthanked_messages.line_id and o.fingerprint = unthanked_messages.fingerprint and o.id < unthanked_messages.id
);
drop index unthanked_messages_print;
create unique index unthanked_messages_copy on unthanked_messages (line_id, fingerprint, copy);

-- A text has each of its parts once.
create unique index message_parts_waiting on message_parts (line_id, sender, ref, total, n) where due_at is not null;
