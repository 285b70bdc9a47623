-- Every account has a network of phones of its own, named by the account's id. Until now all live accounts shared the
-- network 'live', and a phone and its messages belonged to whoever used them.
update phone_messages set network = coalesce(
    (select l.account_id from lines l where l.id = phone_messages.line_id),
    (select g.account_id from phone_groups g where g.id = phone_messages.chat_id),
    (select m.account_id from messages m where m.handle = phone_messages.handle),
    (select min(m.account_id) from messages m
      where m.line_id = phone_messages.line_id and m.provider_id = phone_messages.provider_id),
    (select min(o.account_id) from line_members o where o.line_id = phone_messages.line_id),
    '')
  where network = 'live';
delete from phone_messages where network = '';
drop index phone_messages_provider;
create index phone_messages_provider on phone_messages (provider_id, network);

insert into phone_reactions (network, provider_id, part_index, actor, reaction, at)
  select distinct p.network, r.provider_id, r.part_index, r.actor, r.reaction, r.at
  from phone_reactions r join phone_messages p on p.provider_id = r.provider_id
  where r.network = 'live';
delete from phone_reactions where network = 'live';
delete from phone_typing where network = 'live';
update phone_groups set network = account_id;

update calls set network = coalesce(
    (select l.account_id from lines l where l.id = calls.line_id), account_id,
    (select min(o.account_id) from line_members o where o.line_id = calls.line_id), '')
  where network = 'live';
drop index calls_forwarded;
create index calls_forwarded on calls (account_id, forwarded_to, id) where forwarded_to is not null;

-- The phones that an account created or exchanged messages with, and the phones of the default world for every account
-- with a simulated line.
insert into phones
    (network, number, name, imessage, rcs, power, read_receipts, refuses, email, auto_reply, created_at)
  select a.id, p.number, p.name, p.imessage, p.rcs, p.power, p.read_receipts, p.refuses, p.email, p.auto_reply, p.created_at
  from phones p join accounts a on a.world = 'live' and a.owner is null
  where p.network = 'live' and (
    p.account_id = a.id
    or exists (select 1 from phone_messages m where m.network = a.id and m.phone = p.number)
    or p.number in ('+12025550101', '+12025550102', '+12025550103', '+12025550104', '+12025550105')
      and exists (select 1 from lines l where l.driver = 'simulator' and l.removed_at is null and (l.account_id = a.id
        or l.id in (select o.line_id from line_members o where o.account_id = a.id))));
delete from phones where network = 'live';
alter table phones drop column account_id;

-- Phones of several accounts may share a place with one shared line, and get its requests, name and photo.
alter table sim_locations rename to old_sim_locations;
drop index sim_locations_phone;
create table sim_locations (
  network text not null,
  phone text not null,
  line_id text not null,
  place text,
  at bigint not null,
  expires_at bigint,
  primary key (network, phone, line_id)
);
create index sim_locations_line on sim_locations (line_id, phone);
insert into sim_locations (network, phone, line_id, place, at, expires_at)
  select case when o.network <> 'live' then o.network else coalesce(
      (select l.account_id from lines l where l.id = o.line_id),
      (select min(m.account_id) from line_members m where m.line_id = o.line_id), '') end,
    o.phone, o.line_id, o.place, o.at, o.expires_at from old_sim_locations o;
drop table old_sim_locations;

alter table sim_location_requests rename to old_sim_location_requests;
create table sim_location_requests (
  network text not null,
  phone text not null,
  line_id text not null,
  ref text not null,
  primary key (network, phone, line_id)
);
insert into sim_location_requests (network, phone, line_id, ref)
  select m.network, o.phone, o.line_id, o.ref
  from old_sim_location_requests o join phone_messages m on m.ref = o.ref and m.phone = o.phone;
drop table old_sim_location_requests;

alter table sim_cards rename to old_sim_cards;
drop index sim_cards_phone;
create table sim_cards (
  network text not null,
  phone text not null,
  line_id text not null,
  card text not null,
  at bigint not null,
  primary key (network, phone, line_id)
);
insert into sim_cards (network, phone, line_id, card, at)
  select case when o.network <> 'live' then o.network else coalesce(
      (select l.account_id from lines l where l.id = o.line_id),
      (select min(m.account_id) from line_members m where m.line_id = o.line_id), '') end,
    o.phone, o.line_id, o.card, o.at from old_sim_cards o;
drop table old_sim_cards;
