-- Worlds replace test runs.
drop index messages_run;
drop index phone_messages_run;
drop index phones_run;
alter table messages drop column run;
alter table phone_messages drop column run;
alter table phones drop column run;
