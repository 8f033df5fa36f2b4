-- What the database says by itself: messages to channels, and changes of the tables in the publication
-- `supabase_realtime`. Both wait in a queue that is part of the transaction; a notification, which could not hold them,
-- only tells that something waits.

create table if not exists realtime.messages (
  id          uuid primary key default gen_random_uuid(),
  topic       text not null,
  extension   text not null,
  event       text,
  payload     jsonb,
  binary_payload bytea,
  private     boolean default false,
  inserted_at timestamp not null default (now() at time zone 'utc'),
  updated_at  timestamp not null default (now() at time zone 'utc')
);
create index if not exists messages_topic on realtime.messages (topic, inserted_at desc);
alter table realtime.messages enable row level security;
grant select, insert, update on realtime.messages to anon, authenticated, service_role;

create table if not exists realtime.queue (
  position bigint generated always as identity primary key,
  kind     text not null,
  content  jsonb not null
);
revoke all on realtime.queue from public;

-- The topic that a policy decides on.
create or replace function realtime.topic() returns text language sql stable as $$
  select nullif(current_setting('realtime.topic', true), '')::text
$$;

create or replace function realtime.queue_message() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if new.extension = 'broadcast' and new.event is not null then
    insert into realtime.queue (kind, content) values ('message', jsonb_build_object(
      'id', new.id, 'topic', new.topic, 'event', new.event, 'payload', new.payload, 'private', coalesce(new.private, false),
      'bytes', encode(new.binary_payload, 'base64')));
    perform pg_notify('supabase_realtime', '');
  end if;
  return null;
end $$;
create or replace trigger messages_queue after insert on realtime.messages
  for each row execute function realtime.queue_message();

-- Sends to whoever is on a channel, as part of the transaction and without ever failing it.
create or replace function realtime.send(payload jsonb, event text, topic text, private boolean default true) returns void
language plpgsql as $$
declare
  name uuid := gen_random_uuid();
begin
  begin
    if payload ? 'id' then
      name := (payload ->> 'id')::uuid;
    end if;
  exception when invalid_text_representation then null;
  end;
  begin
    insert into realtime.messages (id, payload, event, topic, private, extension)
      values (name, case when payload ? 'id' then payload else jsonb_set(payload, '{id}', to_jsonb(name)) end,
              event, topic, private, 'broadcast');
  exception when others then
    raise warning 'ErrorSendingBroadcastMessage: %', sqlerrm;
  end;
end $$;

create or replace function realtime.broadcast_changes(
  topic_name text, event_name text, operation text, table_name text, table_schema text, new record, old record,
  level text default 'ROW') returns void
language plpgsql as $$
begin
  if level = 'STATEMENT' then
    raise exception 'function can only be triggered for each row, not for each statement';
  end if;
  perform realtime.send(
    jsonb_build_object('old_record', old, 'record', new, 'operation', operation, 'table', table_name,
                       'schema', table_schema),
    event_name, topic_name);
end $$;

-- What somebody may do on a private channel: `["read:broadcast", "write:presence", …]`. Policies are asked on rows that
-- are there for as long as that takes; one that fails allows nothing.
create or replace function realtime.rights(topic text, role_ text, claims text) returns jsonb
language plpgsql volatile as $$
#variable_conflict use_column
declare
  found_ text[] := '{}';
  kind   text;
  seen   text[];
begin
  begin
    perform set_config('realtime.topic', rights.topic, true), set_config('request.jwt.claims', claims, true);
    insert into realtime.messages (topic, extension) values (rights.topic, 'broadcast'), (rights.topic, 'presence');
    perform set_config('role', role_, true);
    begin
      select array_agg(distinct 'read:' || m.extension) into seen from realtime.messages m
        where m.topic = rights.topic and m.event is null;
      found_ := found_ || coalesce(seen, '{}');
    exception when others then null;
    end;
    foreach kind in array array['broadcast', 'presence'] loop
      begin
        insert into realtime.messages (topic, extension) values (rights.topic, kind);
        found_ := found_ || ('write:' || kind);
      exception when others then null;
      end;
    end loop;
    raise exception using errcode = 'SWUND';
  exception when sqlstate 'SWUND' then null;
  end;
  return to_jsonb(found_);
end $$;
revoke all on function realtime.rights(text, text, text) from public;

-- A row of a published table that was written: with the key, and with the whole old row where the table says so.
create or replace function realtime.queue_change() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  keys    text[];
  is_full boolean;
  old_    jsonb;
begin
  select coalesce(array_agg(a.attname), '{}') into keys
    from pg_catalog.pg_index i join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
    where i.indrelid = tg_relid and i.indisprimary;
  select c.relreplident = 'f' into is_full from pg_catalog.pg_class c where c.oid = tg_relid;
  if tg_op <> 'INSERT' then
    select case when is_full then to_jsonb(old) else coalesce(jsonb_object_agg(k, to_jsonb(old) -> k), '{}') end
      into old_ from unnest(keys) k;
  end if;
  insert into realtime.queue (kind, content) values ('change', jsonb_strip_nulls(jsonb_build_object(
    'relation', tg_relid::bigint, 'schema', tg_table_schema, 'table', tg_table_name, 'type', tg_op, 'keys', to_jsonb(keys),
    'at', to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
    || case when tg_op = 'DELETE' then '{}' else jsonb_build_object('record', to_jsonb(new)) end
    || case when tg_op = 'INSERT' then '{}' else jsonb_build_object('old', old_) end);
  perform pg_notify('supabase_realtime', '');
  return null;
end $$;

-- The tables of the publication have the trigger, and no others have.
create or replace function realtime.publish() returns void
language plpgsql security definer set search_path = '' as $$
declare
  part record;
begin
  for part in
    select c.oid::regclass as name, t.oid is not null as is_told,
      exists (select from pg_catalog.pg_publication_tables p
              where p.pubname = 'supabase_realtime' and p.schemaname = n.nspname and p.tablename = c.relname) as is_wanted
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      left join pg_catalog.pg_trigger t on t.tgrelid = c.oid and t.tgname = 'supabase_realtime_change'
    where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema', 'realtime')
  loop
    if part.is_wanted and not part.is_told then
      execute format('create trigger supabase_realtime_change after insert or update or delete on %s
                      for each row execute function realtime.queue_change()', part.name);
    elsif part.is_told and not part.is_wanted then
      execute format('drop trigger supabase_realtime_change on %s', part.name);
    end if;
  end loop;
end $$;

create or replace function realtime.publish_when_told() returns event_trigger
language plpgsql security definer set search_path = '' as $$
begin
  perform realtime.publish();
end $$;

do $$
begin
  if not exists (select from pg_publication where pubname = 'supabase_realtime') then
    create publication supabase_realtime;
  end if;
  if not exists (select from pg_event_trigger where evtname = 'supabase_realtime_published') then
    create event trigger supabase_realtime_published on ddl_command_end
      when tag in ('CREATE PUBLICATION', 'ALTER PUBLICATION', 'CREATE TABLE')
      execute function realtime.publish_when_told();
    create event trigger supabase_realtime_dropped on sql_drop
      when tag in ('DROP PUBLICATION')
      execute function realtime.publish_when_told();
  end if;
  perform realtime.publish();
end $$;

-- What the asking role may know of a change: the columns that it may read, whether the key is among them, and, where
-- policies hold, whether the row can be seen now. A policy that fails shows nothing.
create or replace function realtime.look(change jsonb) returns jsonb
language plpgsql stable as $$
declare
  relation oid := (change ->> 'relation')::oid;
  keys     text[] := array(select jsonb_array_elements_text(change -> 'keys'));
  row_     jsonb := coalesce(change -> 'record', change -> 'old');
  columns_ jsonb;
  allowed  boolean;
  is_seen  boolean := false;
  is_guarded boolean;
begin
  select coalesce(jsonb_agg(jsonb_build_object('name', a.attname, 'type', t.typname) order by a.attnum), '[]'),
         coalesce(bool_and(true) filter (where a.attname = any (keys)), false)
           and count(*) filter (where a.attname = any (keys)) = cardinality(keys)
    into columns_, allowed
    from pg_catalog.pg_attribute a join pg_catalog.pg_type t on t.oid = a.atttypid
    where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
      and has_column_privilege(relation, a.attnum, 'select');
  select c.relrowsecurity into is_guarded from pg_catalog.pg_class c where c.oid = relation;
  if is_guarded is null then
    allowed := false;
  elsif allowed and (not is_guarded or change ->> 'type' = 'DELETE') then
    is_seen := true;
  elsif allowed then
    begin
      execute format('select exists (select from %s r where %s)', relation::regclass,
        (select string_agg(format('r.%I = (select k.%I from jsonb_populate_record(null::%s, $1) k)', k, k, relation::regclass), ' and ')
         from unnest(keys) k)) into is_seen using row_;
    exception when others then
      is_seen := false;
    end;
  end if;
  return jsonb_build_object('columns', columns_, 'allowed', allowed, 'seen', is_seen, 'guarded', coalesce(is_guarded, false));
end $$;
grant execute on function realtime.look(jsonb) to anon, authenticated, service_role;

-- Whether a binding's filter can be evaluated: the type of its column, or null where the caller cannot read it.
create or replace function realtime.column_types(schema_ text, table_ text) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_object_agg(a.attname, t.typname), '{}')
  from pg_catalog.pg_attribute a join pg_catalog.pg_type t on t.oid = a.atttypid
    join pg_catalog.pg_class c on c.oid = a.attrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname = schema_ and c.relname = table_ and a.attnum > 0 and not a.attisdropped
    and has_column_privilege(c.oid, a.attnum, 'select')
$$;
grant execute on function realtime.column_types(text, text) to anon, authenticated, service_role;
