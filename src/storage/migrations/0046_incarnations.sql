-- The lives of this database. Another one begins when the database was restored, copied or promoted: rows that were
-- committed may be missing, their ids and event numbers would be used again, and messages that wait may have been sent.
create table incarnations (
  n bigint primary key,
  -- Empty for the first one: ids that receivers know already stay as they are.
  id text not null,
  -- How the server or the data folder is recognised.
  identity text not null,
  reason text not null,
  begun_at bigint not null,
  -- Events of this incarnation have higher numbers, those of earlier ones have not.
  event_base bigint not null,
  -- Messages up to this id that waited wait for the operator's word; 0: none.
  held_through bigint not null,
  -- Whether a standby has every commit.
  is_synchronous bigint not null
);
