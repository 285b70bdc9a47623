-- A large world is emptied in slices. The mark says what follows, and until when a process has the work.
alter table accounts add column emptying text;
alter table accounts add column emptying_until bigint;
