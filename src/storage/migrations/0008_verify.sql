create table verify_services (
  sid text primary key,
  account_id text not null,
  friendly_name text not null,
  code_length bigint not null,
  ttl_seconds bigint not null,
  use_customer_lines bigint not null,
  created_at bigint not null,
  removed_at bigint
);
create index verify_services_account on verify_services (account_id, created_at, sid) where removed_at is null;

-- Somebody who is to prove that a number is theirs, by texting `code` from it to the line.
create table verifications (
  sid text primary key,
  service_sid text not null,
  account_id text not null,
  to_number text not null,
  line_id text not null,
  pool_number text not null,
  code text not null,
  status text not null check (status in ('pending', 'approved', 'expired', 'canceled')),
  created_at bigint not null,
  updated_at bigint not null,
  expires_at bigint not null,
  completed_at bigint,
  -- The widget's session, when one was asked for.
  session_id text,
  parent_origin text,
  brand_name text,
  accent_color text,
  theme text
);
-- One text can answer one question only, whoever of a shared line's members asked it.
create unique index verifications_code on verifications (line_id, to_number, code) where status = 'pending';
create index verifications_due on verifications (expires_at, sid) where status = 'pending';
create index verifications_service on verifications (service_sid, sid) where status = 'pending';
create index verifications_updated on verifications (account_id, updated_at, sid);
create unique index verifications_session on verifications (session_id) where session_id is not null;
