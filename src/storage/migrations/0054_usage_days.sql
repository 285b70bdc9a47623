-- Messages of a day that were deleted, removed or erased, and so are no longer in message_counts. Usage is both together.
create table usage_days (
  account_id text not null,
  -- Midnight UTC of the day in which the messages were accepted or received.
  day bigint not null,
  line_id text not null,
  accepted bigint not null,
  delivered bigint not null,
  failed bigint not null,
  received bigint not null,
  primary key (account_id, day, line_id)
); -- only: postgres
) without rowid; -- only: sqlite
