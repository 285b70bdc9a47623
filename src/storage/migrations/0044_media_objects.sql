-- Objects in the bucket that may have no row in media: uploads in progress, and (since 0) objects to remove.
create table media_objects (name text primary key, since bigint not null);
create index media_objects_age on media_objects (since);
