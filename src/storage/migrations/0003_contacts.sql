-- Ids sort by the time they were made: new rows go to the end, and the order of ids is the order of creation.
create table contacts (
  account_id text not null,
  phone text not null, -- only: sqlite
  phone text collate "C" not null, -- only: postgres
  id text not null, -- only: sqlite
  id text collate "C" not null, -- only: postgres
  first_name text not null, -- only: sqlite
  first_name text collate "C" not null, -- only: postgres
  last_name text not null, -- only: sqlite
  last_name text collate "C" not null, -- only: postgres
  company_name text not null,
  assigned_to_email text,
  -- The line that writes to it; empty when none was chosen.
  line_number text not null,
  tags text not null,
  variables text not null,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (account_id, id)
); -- only: postgres
) without rowid; -- only: sqlite
create unique index contacts_phone on contacts (account_id, phone);
create index contacts_first_name on contacts (account_id, first_name, id);
create index contacts_last_name on contacts (account_id, last_name, id);
-- For tokens that are confined to lines. Contacts without a line cost nothing here.
create index contacts_line on contacts (account_id, line_number, id) where line_number <> '';
create index contacts_line_first_name on contacts (account_id, line_number, first_name, id) where line_number <> '';
create index contacts_line_last_name on contacts (account_id, line_number, last_name, id) where line_number <> '';
create index contacts_line_phone on contacts (account_id, line_number, phone) where line_number <> '';

-- How many contacts an account has on each line. Its row without a line is also the lock that puts the account's
-- changes of contacts in order.
create table contact_counts (
  account_id text not null,
  line_number text not null,
  n bigint not null,
  primary key (account_id, line_number)
);

-- The labels of custom variables an account has ever used.
create table contact_labels (
  account_id text not null,
  label text not null,
  created_at bigint not null,
  primary key (account_id, label)
);

-- Who has shown that a number is theirs by writing to a line. `scope` is that line's id, or 'shared' for the
-- shared line of the account.
create table verified_contacts (
  id integer primary key autoincrement, -- only: sqlite
  id bigint generated always as identity primary key, -- only: postgres
  account_id text not null,
  number text not null,
  scope text not null,
  -- When the account last asked for it: on a shared line the latest to ask gets the answer.
  asked_at bigint not null,
  created_at bigint not null,
  updated_at bigint not null,
  verified_at bigint
);
create unique index verified_contacts_number on verified_contacts (account_id, number, scope);
create index verified_contacts_sender on verified_contacts (number, scope, asked_at);
create index verified_contacts_list on verified_contacts (account_id, scope, id);

-- People who wrote to a shared line of several accounts before any of them had asked. Kept for minutes.
create table line_strangers (
  line_id text not null,
  number text not null,
  heard_at bigint not null,
  primary key (line_id, number)
);
create index line_strangers_age on line_strangers (heard_at);
