-- While a message waits for the time its sender chose: that time. Then it is in no queue yet, so what is sent
-- meanwhile to the same person goes first. Null for all others, which none of the new indexes has.
alter table messages add column due_at bigint;
drop index messages_queue;
create index messages_queue on messages (line_id) where next_action_at is not null and due_at is null; -- only: sqlite
create index messages_queue on messages (line_id, id) where next_action_at is not null and due_at is null; -- only: postgres
create index messages_due on messages (due_at) where due_at is not null; -- only: sqlite
create index messages_due on messages (due_at, id) where due_at is not null; -- only: postgres
create index messages_scheduled on messages (account_id, due_at) where due_at is not null; -- only: sqlite
create index messages_scheduled on messages (account_id, due_at, id) where due_at is not null; -- only: postgres
create index messages_scheduled_line on messages (line_id) where due_at is not null;
