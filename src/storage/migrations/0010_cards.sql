-- Part of a multipart message that a reply is about.
alter table phone_messages add column reply_to_part bigint;
-- Cards of one session replace each other on the screen.
alter table phone_messages add column card_session text;
create index phone_messages_card on phone_messages (line_id, phone, card_session, id) where card_session is not null;
-- Reactions and replies name a message by the network's id.
create index phone_messages_provider on phone_messages (network, provider_id);
-- What a line has not read yet; a message leaves it when it is read.
create index phone_messages_unread on phone_messages (line_id, phone) where from_phone = 1 and read_at is null;

-- Tapbacks as both sides see them: one of each person on each part of a message.
create table phone_reactions (
  network text not null,
  provider_id text not null,
  part_index bigint not null,
  actor text not null,
  reaction text not null,
  at bigint not null,
  primary key (network, provider_id, part_index, actor)
);

-- Who is typing, until when: the line (seen on the phone), or the phone (seen by the line).
create table phone_typing (
  network text not null,
  phone text not null,
  line_id text not null,
  from_phone bigint not null,
  until bigint not null,
  primary key (network, phone, line_id, from_phone)
);

-- How many states of an app card session a person has sent us.
create table card_sessions (
  account_id text not null,
  line_id text not null,
  contact text not null,
  session text not null,
  revision bigint not null,
  primary key (account_id, line_id, contact, session)
);
