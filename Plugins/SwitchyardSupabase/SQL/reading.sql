-- What clients read. Each function answers one JSON value, so that no limit on rows cuts a result off unseen.

-- Only the fields asked for, or all.
create or replace function switchyard.projected(data jsonb, fields jsonb) returns jsonb
language plpgsql immutable as $$
declare
  result jsonb := '{}';
  field  jsonb;
begin
  if jsonb_typeof(fields) is distinct from 'array' then return data; end if;
  for field in select jsonb_array_elements(fields) loop
    if data #> switchyard.strings(field) is not null then
      result := switchyard.put(result, switchyard.strings(field), data #> switchyard.strings(field));
    end if;
  end loop;
  return result;
end $$;

-- A row of `d` as readers get it, as text for a statement.
drop function if exists switchyard.document_json(switchyard.documents, jsonb);
create or replace function switchyard.document_sql(data text default 'd.data') returns text
language sql immutable parallel safe as $$
  select format('jsonb_build_object(''path'', d.path, ''data'', %s, ''created'', %s, ''updated'', %s)', data,
                switchyard.time_sql('d.created_at'), switchyard.time_sql('d.updated_at'))
$$;

-- The first transaction that a statement beginning now would not know of, however old the caller's statement is.
create or replace function switchyard.horizon() returns xid8
language plpgsql volatile set search_path = '' as $$
begin
  return pg_snapshot_xmax(pg_current_snapshot());
end $$;

-- Whether no transaction was under way that may write. What was missing then was missing as of that moment; otherwise
-- something may yet appear with a time before it, for a commit takes its time before it can be seen.
--
-- A snapshot does not list who is under way beyond the newest that has ended: then the number that it stops at has been given
-- away. Nothing tells so without a lock that others wait for, but that asking after a number that has not been is an error.
create or replace function switchyard.is_settled() returns boolean
language plpgsql stable set search_path = '' as $$
declare
  seen pg_snapshot := pg_current_snapshot();
begin
  if pg_snapshot_xmin(seen) <> pg_snapshot_xmax(seen) then return false; end if;
  begin
    perform pg_xact_status(pg_snapshot_xmax(seen));
    return false;
  exception when invalid_parameter_value then
    return true;
  end;
end $$;

-- As of when what is missing is missing: before anything that was being written, as far as that can be seen. A transaction
-- that has ended since the caller's statement began tells no more when it began.
create or replace function switchyard.missing_since() returns timestamptz
language sql stable security definer set search_path = '' as $$
  select case
    when switchyard.is_settled() then statement_timestamp()
    else least(statement_timestamp(), coalesce(
      (select min(a.xact_start) - interval '1 microsecond' from pg_catalog.pg_stat_activity a
       where a.backend_xid is not null and a.pid <> pg_backend_pid()
         and switchyard.horizon() = pg_snapshot_xmax(pg_current_snapshot())
         and not exists (select from pg_snapshot_xip(pg_current_snapshot()) x
                         where x::xid not in (select b.backend_xid from pg_catalog.pg_stat_activity b
                                              where b.backend_xid is not null))),
      statement_timestamp() - interval '10 seconds')) end
$$;

-- Not before what is shown, if that can be: a document's time can be ahead of the clock by its last steps. One that is
-- further ahead was made up, and is no reason to take what comes later for older.
create or replace function switchyard.read_time(newest timestamptz) returns timestamptz
language sql stable parallel safe as $$
  select greatest(statement_timestamp(), case when newest <= statement_timestamp() + interval '1 second' then newest end)
$$;

create or replace function switchyard.answer(documents jsonb, newest timestamptz) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object('documents', documents, 'readTime', switchyard.time_text(
    case when switchyard.is_settled() then switchyard.read_time(newest) else switchyard.missing_since() end));
end $$;

-- Those of the documents that are there and may be read, in no order; and since when others are gone, which holds whatever
-- is being written meanwhile.
create or replace function public.switchyard_get(paths text[]) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  result jsonb;
  gone   jsonb;
begin
  execute format('select switchyard.answer(coalesce(jsonb_agg(%s), ''[]''), max(d.updated_at))
                  from switchyard.documents d where d.path = any ($1) and %s', switchyard.document_sql(), switchyard.allowed('read'))
    into result using paths;
  if jsonb_array_length(result -> 'documents') < cardinality(paths) then
    execute format('select jsonb_object_agg(d.path, %s) from switchyard.deletions d where d.path = any ($1) and %s',
                   switchyard.time_sql('d.deleted_at'), switchyard.allowed('read', true)) into gone using paths;
    if gone is not null then result := result || jsonb_build_object('gone', gone); end if;
  end if;
  return result;
end $$;

-- The results of a query in its order; with "last" in the opposite one.
create or replace function public.switchyard_query(query jsonb) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  result jsonb;
begin
  execute format('select switchyard.answer(coalesce(jsonb_agg(%s), ''[]''), max(d.updated_at)) from (%s) d',
                 case when jsonb_typeof(query -> 'fields') = 'array' then switchyard.document_sql('switchyard.projected(d.data, $1)')
                      else switchyard.document_sql() end,
                 switchyard.query_sql(query)) into result using query -> 'fields';
  return result;
end $$;

-- A sum stays whole while its numbers are and it fits.
create or replace function switchyard.sum_json(sum_ numeric, rough float8, is_whole boolean) returns jsonb
language sql immutable parallel safe as $$
  select case when sum_ is null then to_jsonb(0)
    when is_whole and sum_ between -9223372036854775808 and 9223372036854775807 then to_jsonb(sum_)
    else switchyard.from_double(rough) end
$$;

-- Values over all results: [["count"], ["sum", field], ["average", field], …] as columns over rows of `d`.
create or replace function switchyard.aggregate_columns(aggregations jsonb) returns text
language plpgsql stable set search_path = '' as $$
declare
  wanted  jsonb;
  number  text;
  columns text[] := '{}';
begin
  for wanted in select jsonb_array_elements(aggregations) loop
    number := format('switchyard.as_double(d.data #> %L::text[])', switchyard.strings(wanted -> 1));
    columns := columns || case wanted ->> 0
      when 'count' then 'to_jsonb(count(*))'
      when 'average' then format('switchyard.from_double(switchyard.total(%1$s) / nullif(count(%1$s), 0))', number)
      when 'sum' then format('switchyard.sum_json(
          sum(case when switchyard.is_whole(d.data #> %1$L::text[]) then (d.data #>> %1$L::text[])::numeric
                   when %2$s is not null then 0 end),
          switchyard.total(%2$s), bool_and(switchyard.is_whole(d.data #> %1$L::text[])) filter (where %2$s is not null))',
          switchyard.strings(wanted -> 1), number) end;
  end loop;
  return array_to_string(columns, ', ');
end $$;

create or replace function public.switchyard_aggregate(query jsonb, aggregations jsonb) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  result jsonb;
begin
  execute format('select jsonb_build_array(%s) from (%s) d', switchyard.aggregate_columns(aggregations),
                 switchyard.query_sql(query)) into result;
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
