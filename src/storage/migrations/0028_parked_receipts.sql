-- One spelling of an id may belong to receipts of different messages: each of them is kept, and all spellings of a
-- receipt go when one of them has found its send.
alter table parked_receipts rename to former_parked_receipts;
create table parked_receipts (
  line_id text not null,
  provider_id text not null,
  receipt text not null,
  status text not null,
  report text not null,
  received_at bigint not null,
  primary key (line_id, provider_id, receipt, status)
);
insert into parked_receipts (line_id, provider_id, receipt, status, report, received_at)
  select line_id, provider_id, provider_id, status, report, received_at from former_parked_receipts;
drop table former_parked_receipts;
create index parked_receipts_receipt on parked_receipts (line_id, receipt);
