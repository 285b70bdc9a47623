-- API calls of the last days. Times are those of the machine's clock, as in the audit log. Rows refer to nothing: a row
-- is written after the answer, when the account may be gone.
-- No column holds phone numbers or content, except for request_body and response_body, which are null unless the account
-- or an admin has asked for bodies (accounts.bodies_until). path and error_message are masked before they are stored.
create table requests (
  -- '' for callers without a valid key, 'admin' for admin keys.
  account_id text not null,
  at bigint not null,
  id text not null,
  method text not null,
  path text not null,
  status bigint not null,
  key_id text,
  duration_us bigint not null,
  error_code text,
  error_message text,
  ignored text,
  request_body text,
  response_body text,
  primary key (account_id, at, id)
);
create index requests_at on requests (at, id);
-- Until when bodies are kept in this log, by the machine's clock.
alter table accounts add column bodies_until bigint;
