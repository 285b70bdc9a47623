-- What a line answers to STOP, START and HELP by itself, and when it takes a conversation for a loop.
alter table lines add column consent_replies text not null default 'send';
alter table lines add column stop_text text;
alter table lines add column start_text text;
alter table lines add column help_text text;
alter table lines add column loop_limit bigint;

-- Made because its person wrote in; whoever creates it then describes it for the first time.
alter table contacts add column unclaimed bigint not null default 0;

-- Sends that came back to us as if a person had written them. A send comes back once: `ref` is its attempt.
create table echoes (
  ref text primary key,
  line_id text not null,
  provider_id text not null,
  at bigint not null
);
create unique index echoes_provider on echoes (line_id, provider_id);

-- Messages without an id of the carrier's that it has not been thanked for, as far as we know: it may bring
-- them again over another connection.
create table unthanked_messages (
  id text primary key,
  line_id text not null,
  fingerprint text not null,
  session text not null,
  stored_at bigint not null
);
create index unthanked_messages_print on unthanked_messages (line_id, fingerprint);
create index unthanked_messages_age on unthanked_messages (stored_at);

-- Parts of long messages. They wait for each other while due_at is set; then only their identity is kept, for ever.
create table message_parts (
  id integer primary key autoincrement, -- only: sqlite
  id bigint generated always as identity primary key, -- only: postgres
  line_id text not null,
  sender text not null,
  ref text not null,
  total bigint not null,
  n bigint not null,
  provider_id text,
  digest text not null,
  content text not null,
  service text not null,
  sent_at bigint not null,
  received_at bigint not null,
  due_at bigint
);
create unique index message_parts_provider on message_parts (line_id, provider_id) where provider_id is not null;
create index message_parts_whole on message_parts (line_id, sender, ref, received_at);
create index message_parts_due on message_parts (due_at) where due_at is not null;

-- Conversations that went round in circles: nothing goes out in them until then.
create table conversation_holds (
  line_id text not null,
  conversation text not null,
  account_id text not null,
  group_id text,
  alternations bigint not null,
  held_at bigint not null,
  held_until bigint not null,
  primary key (line_id, conversation)
);
create index conversation_holds_end on conversation_holds (held_until);
