-- Messages a line may send between two midnights, UTC; 0 is unlimited.
alter table lines add column daily_limit bigint not null default 0;
-- How many of them it has sent on the last day on which it sent any. Only lines with a limit are counted.
create table line_days (
  line_id text primary key,
  day bigint not null,
  sent bigint not null
);
