-- A group chat on a line, as its account knows it.
create table group_chats (
  id text primary key,
  account_id text not null,
  line_id text not null,
  -- The group that a list of numbers means. Null when another one on the line had the same people first.
  members_key text,
  -- The carrier's own id, once it told.
  chat_id text,
  name text,
  photo_guid text,
  photo_url text,
  created_at bigint not null,
  updated_at bigint not null
);
create unique index group_chats_members on group_chats (account_id, line_id, members_key) where members_key is not null;
create unique index group_chats_chat on group_chats (line_id, chat_id, account_id) where chat_id is not null;

-- Everyone in a group beside the line. Ids grow with time: their order is the order of joining.
create table group_members (
  id text primary key,
  group_id text not null,
  account_id text not null,
  handle text not null
);
create unique index group_members_handle on group_members (group_id, handle);
create index group_members_person on group_members (handle, account_id);

-- The simulator's other side: group chats as the phones in them have them. The line is told of every version.
create table phone_groups (
  id text primary key,
  network text not null,
  account_id text not null,
  line_id text not null,
  line_number text not null,
  -- The group it was made for by the line; null when a phone began it.
  group_id text,
  name text,
  photo_url text,
  members text not null,
  created_at bigint not null,
  version bigint not null,
  told_version bigint not null
);
create unique index phone_groups_group on phone_groups (line_id, group_id) where group_id is not null;
create index phone_groups_account on phone_groups (account_id, created_at);
create index phone_groups_news on phone_groups (line_id) where told_version < version;

-- A message in a group is on several phones under one id.
alter table phone_messages add column chat_id text;
alter table phone_messages add column sender text;
drop index phone_messages_ref;
create unique index phone_messages_ref on phone_messages (ref, phone) where ref is not null;
create index phone_messages_chat on phone_messages (line_id, provider_id) where chat_id is not null;
