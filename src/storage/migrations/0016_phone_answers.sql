-- What a virtual phone answers by itself to whatever it gets; null: nothing.
alter table phones add column auto_reply text;
create index phones_auto_reply on phones (network, number) where auto_reply is not null;
