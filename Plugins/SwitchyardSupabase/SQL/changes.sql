-- What a listener has not seen yet. Asked after every hint and every now and then; hints may be lost without harm.

-- All targets of a listener as of one moment: [{"id": n, "query": …  or "documents": [path, …], "since": token,
-- "count": bool}, …]. A target whose query cannot be run is answered by its error alone.
--
-- A token is where a listener is: the database's epoch, and the oldest transaction that had not ended. All before it were seen.
-- Where the epoch is none any more, the token is none to go on from: the listener begins anew.
--
-- Since its token, a target has the documents that were written, and the paths of those that were and are no results any more.
-- Without one, or for a query with a limit, it has all of them.
create or replace function public.switchyard_changes(targets jsonb) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  access  text := switchyard.allowed('read');
  access_gone text := switchyard.allowed('read', true);
  own     switchyard.settings;
  is_home boolean;
  target  jsonb;
  query   jsonb;
  kind    text;
  since   xid8;
  part    record;
  found_  jsonb;
  gone    jsonb;
  count_  bigint;
  result  jsonb;
  answers jsonb := '[]';
  code    text;
  text_   text;
  newest  timestamptz;
begin
  select * into own from switchyard.settings;
  is_home := coalesce(own.home = switchyard.home(), false);
  for target in select jsonb_array_elements(targets) loop
    begin
      result := jsonb_build_object('id', target -> 'id');
      if target ? 'documents' then
        execute format('select jsonb_agg(%s) from switchyard.documents d where d.path = any ($1) and %s',
                       switchyard.document_sql(), access) into found_ using switchyard.strings(target -> 'documents');
        execute format('select jsonb_object_agg(d.path, switchyard.time_text(d.deleted_at))
                        from switchyard.deletions d where d.path = any ($1) and %s',
                       access_gone) into gone using switchyard.strings(target -> 'documents');
        answers := answers || (result || jsonb_build_object('reset', true, 'documents', coalesce(found_, '[]'),
                                                            'gone', coalesce(gone, '{}')));
        continue;
      end if;

      query := target -> 'query';
      kind := coalesce(substring(query ->> 'in' from '[^/]+$'), query ->> 'group');
      -- The transaction to go on from. Up to version 7 there was nothing to be told.
      select t.number::text::xid8 into since
        from (select substring(target ->> 'since' from '^[^:]+:([0-9]{1,18})$')::bigint as number) t
        where is_home and split_part(target ->> 'since', ':', 1) = own.epoch::text and t.number::text::xid8 >= own.forgotten
          and t.number <= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + own.lead;
      -- By the rule `domain` the caller may have come to see more or less, when their place on somebody's list was written.
      if since is not null and kind in ('users', 'checkIns')
        and exists (select from switchyard.rules r where r.collection_id = kind and r.read = 'domain')
        and (exists (select from switchyard.documents d where d.collection_id = 'contacts' and d.version >= since
                       and split_part(d.path, '/', 1) = 'users' and split_part(d.path, '/', 4) = switchyard.caller())
          or exists (select from switchyard.deletions d where d.collection_id = 'contacts' and d.version >= since
                       and split_part(d.path, '/', 1) = 'users' and split_part(d.path, '/', 4) = switchyard.caller())) then
        since := null;
      end if;
      if since is null or query ?| array['first', 'last', 'offset'] then
        execute format('select jsonb_agg(%s) from (%s) d', switchyard.document_sql(), switchyard.query_sql(query, true)) into found_;
        answers := answers || (result || jsonb_build_object('reset', true, 'documents', coalesce(found_, '[]')));
        continue;
      end if;

      -- What the caller may not see is not among these rows; its conditions are asked of the others only.
      select * into part from switchyard.clauses(query, false);
      execute format('select jsonb_agg(%4$s) filter (where %1$s),
                             jsonb_agg(d.path) filter (where (%1$s) is not true)
                      from switchyard.documents d where %2$s and d.version >= $1 and %3$s',
                     part.conditions, part.source, (switchyard.shown(query)).condition, switchyard.document_sql())
        into found_, gone using since;
      result := result || jsonb_build_object('documents', coalesce(found_, '[]'), 'left', coalesce(gone, '[]'));
      execute format('select jsonb_agg(jsonb_build_array(d.path, switchyard.time_text(d.deleted_at)))
                      from switchyard.deletions d where %s and d.version >= $1 and %s',
                     part.source, (switchyard.shown(query, true)).condition) into gone using since;
      result := result || jsonb_build_object('deleted', coalesce(gone, '[]'));
      if target ->> 'count' = 'true' then
        execute format('select count(*) from (%s) d', switchyard.query_sql(query, false)) into count_;
        result := result || jsonb_build_object('count', count_);
      end if;
      answers := answers || result;
    exception when data_exception or program_limit_exceeded then
      get stacked diagnostics code = returned_sqlstate, text_ = message_text;
      answers := answers || jsonb_build_object('id', target -> 'id', 'error', code, 'message', text_);
    end;
  end loop;
  select max((d ->> 'updated')::timestamptz) into newest
    from jsonb_array_elements(answers) a, jsonb_array_elements(coalesce(a -> 'documents', '[]')) d;
  result := switchyard.answer(null, newest, pg_current_snapshot());
  return jsonb_build_object('targets', answers, 'settled', result -> 'settled', 'readTime', result -> 'readTime', 'token',
    case when is_home then own.epoch::text || ':' || pg_snapshot_xmin(pg_current_snapshot())::text::bigint + own.lead
         else 'moved:0' end);
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
  hint := jsonb_build_object('transaction', (select pg_current_xact_id()::text::bigint + s.lead from switchyard.settings s)::text);
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
