-- What a listener has not seen yet. Asked after every hint and every now and then; hints may be lost without harm.

-- Where a listener is: the database's epoch, and the oldest transaction that had not ended. All before it were seen. Where
-- the epoch is none any more, the place is none to go on from.
drop function if exists switchyard.token();
create or replace function switchyard.token(is_at_home boolean) returns text
language plpgsql stable security definer set search_path = '' as $$
begin
  if is_at_home is not true then return 'moved:0'; end if;
  return (select s.epoch::text || ':' || pg_snapshot_xmin(pg_current_snapshot())::text::bigint + s.lead
          from switchyard.settings s);
end $$;

-- The transaction to go on from; null where a listener must begin anew. Up to version 7 there was nothing to be told.
drop function if exists switchyard.since(text);
create or replace function switchyard.since(token text, is_at_home boolean) returns xid8
language plpgsql stable security definer set search_path = '' as $$
declare
  own  switchyard.settings;
  seen bigint := substring(token from '^[^:]+:([0-9]{1,18})$');
begin
  select * into own from switchyard.settings;
  if seen is null or split_part(token, ':', 1) <> own.epoch::text or is_at_home is not true then return null; end if;
  if seen > pg_snapshot_xmax(pg_current_snapshot())::text::bigint + own.lead then return null; end if;
  return (select x from (select seen::text::xid8 as x) y where x >= own.forgotten);
end $$;

-- The state of one target since a transaction: its documents that were written, and the paths of those that were and
-- are no results any more. Without `since`, or for a query with a limit, all of it.
drop function if exists switchyard.changes_of(jsonb, text), switchyard.changes_of(jsonb, text, boolean);
create or replace function switchyard.changes_of(target jsonb, access text, access_gone text, is_at_home boolean) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  query  jsonb := target -> 'query';
  kind   text := coalesce(substring(query ->> 'in' from '[^/]+$'), query ->> 'group');
  since  xid8 := switchyard.since(target ->> 'since', is_at_home);
  part   record;
  seen   record;
  result jsonb := jsonb_build_object('id', target -> 'id');
  found_ jsonb;
  gone   jsonb;
  count_ bigint;
begin
  if target ? 'documents' then
    execute format('select jsonb_agg(%s) from switchyard.documents d where d.path = any ($1) and %s',
                   switchyard.document_sql(), access) into found_ using switchyard.strings(target -> 'documents');
    execute format('select jsonb_object_agg(d.path, %s) from switchyard.deletions d where d.path = any ($1) and %s',
                   switchyard.time_sql('d.deleted_at'), access_gone) into gone using switchyard.strings(target -> 'documents');
    return result || jsonb_build_object('reset', true, 'documents', coalesce(found_, '[]'), 'gone', coalesce(gone, '{}'));
  end if;

  if since is not null and kind in ('users', 'checkIns')
    and exists (select from switchyard.rules r where r.collection_id = kind and r.read = 'domain') then
    if switchyard.has_moved(since, kind) then since := null; end if;
  end if;
  if since is null or query ? 'first' or query ? 'last' or query ? 'offset' then
    execute format('select jsonb_agg(%s) from (%s) d', switchyard.document_sql(),
                   switchyard.query_sql(query)) into found_;
    return result || jsonb_build_object('reset', true, 'documents', coalesce(found_, '[]'));
  end if;

  -- What the caller may not see is not among these rows; its conditions are asked of the others only.
  select * into part from switchyard.clauses(query, false);
  execute format('select jsonb_agg(%4$s) filter (where %1$s),
                         jsonb_agg(d.path) filter (where (%1$s) is not true)
                  from switchyard.documents d where %2$s and d.version >= $1 and %3$s',
                 part.conditions, part.source, switchyard.visible_condition(query), switchyard.document_sql())
    into found_, gone using since;
  result := result || jsonb_build_object('documents', coalesce(found_, '[]'), 'left', coalesce(gone, '[]'));
  execute format('select jsonb_agg(jsonb_build_array(d.path, %s))
                  from switchyard.deletions d where %s and d.version >= $1 and %s',
                 switchyard.time_sql('d.deleted_at'), part.source, switchyard.visible_condition(query, true)) into gone using since;
  result := result || jsonb_build_object('deleted', coalesce(gone, '[]'));
  if target ->> 'count' = 'true' then
    select * into seen from switchyard.visible(query);
    select * into part from switchyard.clauses(query, seen.is_owned);
    execute format('select count(*) from %s and %s', switchyard.visible_sql(query, seen), part.conditions) into count_;
    result := result || jsonb_build_object('count', count_);
  end if;
  return result;
end $$;

-- All targets of a listener as of one moment: [{"id": n, "query": …  or "documents": [path, …], "since": token,
-- "count": bool}, …]. A target whose query cannot be run is answered by its error
-- alone.
create or replace function public.switchyard_changes(targets jsonb) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  access  text := switchyard.allowed('read');
  gone    text := switchyard.allowed('read', true);
  is_home boolean := switchyard.is_at_home();
  target  jsonb;
  answers jsonb := '[]';
  code    text;
  text_   text;
  newest  timestamptz;
begin
  for target in select jsonb_array_elements(targets) loop
    begin
      answers := answers || switchyard.changes_of(target, access, gone, is_home);
    exception when data_exception or program_limit_exceeded then
      get stacked diagnostics code = returned_sqlstate, text_ = message_text;
      answers := answers || jsonb_build_object('id', target -> 'id', 'error', code, 'message', text_);
    end;
  end loop;
  select max((d ->> 'updated')::timestamptz) into newest
    from jsonb_array_elements(answers) a, jsonb_array_elements(coalesce(a -> 'documents', '[]')) d;
  return jsonb_build_object('token', switchyard.token(is_home), 'targets', answers, 'settled', switchyard.is_settled(),
                            'readTime', switchyard.time_text(switchyard.read_time(newest)));
end $$;

-- A hint that something was written: where, not what. The data is fetched under the reader's own rights. Once in a
-- transaction for each collection, however many writes it has: a project bears so many messages a second.
create or replace function switchyard.announce() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  told   text[] := coalesce(nullif(current_setting('switchyard.told', true), '')::text[], '{}');
  place_ text;
  hint   jsonb;
begin
  if not exists (select from touched t where t.collection <> all (told)) then return null; end if;
  hint := jsonb_build_object('transaction', switchyard.version()::text);
  for place_ in select distinct t.collection from touched t where t.collection <> all (told) loop
    told := told || place_;
    if to_regprocedure('realtime.send(jsonb,text,text,boolean)') is not null then
      execute 'select realtime.send($1, $2, $3, true), realtime.send($1, $2, $4, true)'
        using hint, 'change', 'documents:' || place_, 'documents:*/' || substring(place_ from '[^/]+$');
    else
      perform pg_notify('switchyard', place_);
    end if;
  end loop;
  perform set_config('switchyard.told', told::text, true);
  return null;
end $$;

drop trigger if exists documents_inserted on switchyard.documents;
drop trigger if exists documents_updated on switchyard.documents;
drop trigger if exists documents_deleted on switchyard.documents;
create trigger documents_inserted after insert on switchyard.documents referencing new table as touched
  for each statement execute function switchyard.announce();
create trigger documents_updated after update on switchyard.documents referencing new table as touched
  for each statement execute function switchyard.announce();
create trigger documents_deleted after delete on switchyard.documents referencing old table as touched
  for each statement execute function switchyard.announce();

-- Who may hear the hints of a collection: who could read something in it. They tell when something was written there. What lies
-- in the tree of one person is for that person.
create or replace function switchyard.may_listen(topic text) returns boolean
language plpgsql stable security definer set search_path = '' as $$
declare
  me    text := switchyard.caller();
  names text[] := string_to_array(substr(topic, 11), '/');
  rule  text;
  my    record;
begin
  if topic not like 'documents:_%' then return false; end if;
  select r.read into rule from switchyard.rules r where r.collection_id = names[cardinality(names)];
  if rule = 'public' then return true; end if;
  if rule = 'none' or me is null then return false; end if;
  if cardinality(names) = 1 or names[1] = '*' or rule in ('owner', 'named', 'authenticated') then return true; end if;
  if rule = 'domain' then return names[1] <> 'users' or names[2] = me; end if;
  select * into my from switchyard.standing('read');
  return names[1] <> all (my.roots) or names[2] = me;
end $$;
