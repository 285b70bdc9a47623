-- `secret` is sealed under the key `kid`: see core/seal.ts.
create table totp_secrets (
  id text primary key,
  account_id text not null,
  label text not null,
  issuer text,
  algorithm text not null,
  digits bigint not null,
  period bigint not null,
  secret text not null,
  kid text not null,
  created_at bigint not null
);
create index totp_secrets_account on totp_secrets (account_id, created_at, id);
create index totp_secrets_kid on totp_secrets (kid, id);
