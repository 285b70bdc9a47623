-- Messages that their account deleted, for retention; the other indexes by time leave them out.
create index messages_deleted on messages (account_id, updated_at) where deleted_at is not null; -- only: sqlite
create index messages_deleted on messages (account_id, updated_at, id) where deleted_at is not null; -- only: postgres
