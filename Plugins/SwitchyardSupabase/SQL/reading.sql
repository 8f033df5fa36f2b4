-- What clients read. Each function answers one JSON value, so that no limit on rows cuts a result off unseen.

-- A row of `d` as readers get it, as text for a statement: its times as switchyard.time_text has them.
drop function if exists switchyard.document_json(switchyard.documents, jsonb);
create or replace function switchyard.document_sql(data text default 'd.data') returns text
language plpgsql immutable parallel safe as $$
declare
  time_ constant text := 'to_char(case when d.%1$I between ''0001-01-01 00:00:00+00'' and ''9999-12-31 23:59:59.999999+00'' then d.%1$I
      else ''epoch'' end at time zone ''UTC'', ''YYYY-MM-DD"T"HH24:MI:SS.US"Z"'')';
begin
  return format('jsonb_build_object(''path'', d.path, ''data'', %s, ''created'', %s, ''updated'', %s)', data,
                format(time_, 'created_at'), format(time_, 'updated_at'));
end $$;

-- Documents with the time as of which they are, and as of which what is missing was missing; for a listener, without documents,
-- whether that is settled. `seen` is what the caller's statement knows of.
--
-- The time is not before what is shown, if that can be: a document's time can be ahead of the clock by its last steps. One that is
-- further ahead was made up, and is no reason to take what comes later for older.
--
-- It is settled when no transaction was under way that may write. Otherwise something may yet appear with a time before it, for a
-- commit takes its time before it can be seen. Volatile, so that it learns what has ended since the caller's statement began.
create or replace function switchyard.answer(documents jsonb, newest timestamptz, seen pg_snapshot) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  is_settled boolean := false;
  at         timestamptz;
begin
  -- A snapshot does not list who is under way beyond the newest that has ended: then the number that it stops at has been given
  -- away. Nothing tells so without a lock that others wait for, but that asking after a number that has not been is an error.
  if pg_snapshot_xmin(seen) = pg_snapshot_xmax(seen) then
    begin
      perform pg_xact_status(pg_snapshot_xmax(seen));
    exception when invalid_parameter_value then
      is_settled := true;
    end;
  end if;
  if documents is null or is_settled then
    at := greatest(statement_timestamp(), case when newest <= statement_timestamp() + interval '1 second' then newest end);
  else
    -- Before anything that was being written, as far as that can be seen: a transaction that has ended meanwhile tells no more
    -- when it began.
    select min(a.xact_start) - interval '1 microsecond' into at from pg_catalog.pg_stat_activity a
      where a.backend_xid is not null and a.pid <> pg_backend_pid()
        and not exists (select from pg_snapshot_xip(seen) x
                        where x::xid not in (select b.backend_xid from pg_catalog.pg_stat_activity b where b.backend_xid is not null));
    if pg_snapshot_xmax(pg_current_snapshot()) <> pg_snapshot_xmax(seen) then at := null; end if;
    at := least(statement_timestamp(), coalesce(at, statement_timestamp() - interval '10 seconds'));
  end if;
  if documents is null then return jsonb_build_object('settled', is_settled, 'readTime', switchyard.time_text(at)); end if;
  return jsonb_build_object('documents', documents, 'readTime', switchyard.time_text(at));
end $$;

-- Those of the documents that are there and may be read, in no order; and since when others are gone, which holds whatever
-- is being written meanwhile.
create or replace function public.switchyard_get(paths text[]) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  result jsonb;
  gone   jsonb;
begin
  execute format('select switchyard.answer(coalesce(jsonb_agg(%s), ''[]''), max(d.updated_at), pg_current_snapshot())
                  from switchyard.documents d where d.path = any ($1) and %s', switchyard.document_sql(), switchyard.allowed('read'))
    into result using paths;
  if jsonb_array_length(result -> 'documents') < cardinality(paths) then
    execute format('select jsonb_object_agg(d.path, switchyard.time_text(d.deleted_at))
                    from switchyard.deletions d where d.path = any ($1) and %s', switchyard.allowed('read', true))
      into gone using paths;
    if gone is not null then result := result || jsonb_build_object('gone', gone); end if;
  end if;
  return result;
end $$;

-- The results of a query in its order, with all fields or those asked for; with "last" in the opposite order. As text that is
-- written once: as jsonb, each document would be taken apart and put together again, twice. Times that readers cannot write are as
-- in switchyard.time_text.
do $$ begin
  if (select p.prorettype from pg_catalog.pg_proc p where p.oid = to_regprocedure('public.switchyard_query(jsonb)')) = 'jsonb'::regtype then
    drop function public.switchyard_query(jsonb);
  end if;
end $$;
create or replace function public.switchyard_query(query jsonb) returns json
language plpgsql stable security definer set search_path = '' set timezone = 'UTC' as $$
declare
  time_  constant text := 'case when d.%1$I between ''0001-01-01 00:00:00+00'' and ''9999-12-31 23:59:59.999999+00'' then d.%1$I else ''epoch'' end';
  data   text := 'd.data';
  field  jsonb;
  result json;
begin
  if jsonb_typeof(query -> 'fields') = 'array' then
    data := '''{}''::jsonb';
    for field in select jsonb_array_elements(query -> 'fields') loop
      data := format('switchyard.put(%1$s, %2$L::text[], d.data #> %2$L::text[])', data, switchyard.strings(field));
    end loop;
  end if;
  execute format('select json_build_object(''documents'', coalesce(json_agg(row_to_json(x)), ''[]''),
                    ''readTime'', switchyard.answer(''[]'', max(x.updated), pg_current_snapshot()) -> ''readTime'')
                  from (select d.path, %s as data, %s as created, %s as updated from (%s) d) x',
                 data, format(time_, 'created_at'), format(time_, 'updated_at'), switchyard.query_sql(query, true)) into result;
  return result;
end $$;

-- Values over all results: [["count"], ["sum", field], ["average", field], …]. A sum stays whole while its numbers are and it fits.
create or replace function public.switchyard_aggregate(query jsonb, aggregations jsonb) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  wanted  jsonb;
  value   text;
  numbers text;
  whole   text;
  columns text[] := '{}';
  result  jsonb;
begin
  for wanted in select jsonb_array_elements(aggregations) loop
    value := format('(d.data #> %L::text[])', switchyard.strings(wanted -> 1));
    numbers := format('array_agg(switchyard.as_double(%1$s)) filter (where switchyard.as_double(%1$s) is not null)', value);
    whole := format('case when jsonb_typeof(%1$s) = ''number'' and %1$s::text ~ ''^-?\d{1,19}$'' then %1$s::numeric end', value);
    columns := columns || case wanted ->> 0
      when 'count' then 'to_jsonb(count(*))'
      when 'average' then format('switchyard.from_double(switchyard.total(%1$s) / cardinality(%1$s))', numbers)
      when 'sum' then format('case when %1$s is null then ''0''
          when count(%2$s) = cardinality(%1$s) and sum(%2$s) between -9223372036854775808 and 9223372036854775807
            then to_jsonb(sum(%2$s)) else switchyard.from_double(switchyard.total(%1$s)) end', numbers, whole) end;
  end loop;
  execute format('select jsonb_build_array(%s) from (%s) d', array_to_string(columns, ', '), switchyard.query_sql(query, false))
    into result;
  return result;
end $$;

-- The statement that builds an index for an order or a range without holding up writers: [[field, "asc" | "desc"], …] on the
-- documents of one collection, or of all collections of that name. `owned` is for users who see what is theirs; without it, for
-- queries of what is open to the caller, and for servers. An entry has room for two fields; orders go on from there by sorting.
-- For administrators: select switchyard.index_sql(…) \gexec
create or replace function switchyard.index_sql(
  collection_id text, fields jsonb, is_group boolean default false, owned boolean default false)
returns text language plpgsql immutable set search_path = '' as $$
declare
  columns text[];
  list    text;
begin
  select array_agg(format('switchyard.%I(data #> %L::text[]) %s', case when owned then 'own_key' else 'key' end,
                          switchyard.strings(f -> 0), case f ->> 1 when 'desc' then 'desc' else 'asc' end) order by n)
    into columns from jsonb_array_elements(fields) with ordinality as t(f, n);
  if columns is null then raise exception 'an index has a field' using errcode = '22023'; end if;
  list := case when owned then 'owner, ' else '' end || case when is_group then '' else 'collection, ' end
    || array_to_string(columns[1:2], ', ');
  -- The names at the end, where there is room.
  if cardinality(columns) = 1 then list := list || case fields -> 0 ->> 1 when 'desc' then ', place desc' else ', place' end; end if;
  return format('create index concurrently if not exists %I on switchyard.documents (%s) where collection_id = %L',
    'documents_by_' || substr(md5(collection_id || list), 1, 16), list, collection_id);
end $$;

-- Builds it at once, which holds up writers until it is done: for collections that are small or not in use yet.
drop function if exists switchyard.create_index(text, jsonb, boolean);
create or replace function switchyard.create_index(
  collection_id text, fields jsonb, is_group boolean default false, owned boolean default false)
returns text language plpgsql set search_path = '' as $$
declare
  statement text := switchyard.index_sql(collection_id, fields, is_group, owned);
begin
  execute replace(statement, 'create index concurrently ', 'create index ');
  return substring(statement from 'documents_by_[0-9a-f]+');
end $$;
