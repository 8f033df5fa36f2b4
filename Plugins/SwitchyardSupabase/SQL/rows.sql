-- Rows of a project's own tables, read, queried and watched as documents, with the caller's rights: see commits.sql. For clients
-- up to version 11, which do not ask for the tables themselves.

-- What every result meets, said of columns, so that the table's own indexes serve; null if there is nothing to say. The
-- exact condition is asked as well.
create or replace function switchyard.native_sql(table_ jsonb, filter jsonb) returns text
language plpgsql stable set search_path = '' as $$
declare
  op       text := filter ->> 0;
  column_  text;
  type_    regtype;
  constant text;
  parts    text[];
begin
  if op in ('all', 'any') then
    select array_agg(switchyard.native_sql(table_, f)) into parts from jsonb_array_elements(filter -> 1) f;
    if op = 'any' and array_position(parts, null) is not null then return null; end if;
    parts := array_remove(parts, null);
    return case when cardinality(parts) > 0
      then '(' || array_to_string(parts, case op when 'all' then ' and ' else ' or ' end) || ')' end;
  end if;
  if jsonb_typeof(filter -> 1) <> 'array' or jsonb_array_length(filter -> 1) <> 1 then return null; end if;
  select f ->> 1 into column_ from jsonb_array_elements(table_ -> 'fields') f where f -> 0 = filter -> 1 -> 0;
  if column_ is null then return null; end if;
  type_ := switchyard.column_type(table_, column_);
  if type_ in ('json'::regtype, 'jsonb') then return null; end if;
  if op = 'in' then
    select array_agg(switchyard.literal(switchyard.column_text(v, type_), type_)) into parts
      from jsonb_array_elements(filter -> 2) v;
    if array_position(parts, null) is not null then return null; end if;
    return format('t.%I in (%s)', column_, array_to_string(parts, ', '));
  end if;
  if op = 'array-contains' then
    constant := switchyard.literal(switchyard.column_text(jsonb_build_array(filter -> 2), type_), type_);
    return case when constant is not null then format('t.%I @> %s', column_, constant) end;
  end if;
  -- Text is compared otherwise by the database, depending on how it sorts.
  if op = '==' or (op in ('<', '<=', '>', '>=')
                   and type_ in ('int2'::regtype, 'int4', 'int8', 'float4', 'float8', 'numeric', 'timestamptz', 'timestamp')) then
    constant := switchyard.literal(switchyard.column_text(filter -> 2, type_), type_);
    return case when constant is not null then format('t.%I %s %s', column_, case op when '==' then '=' else op end, constant) end;
  end if;
  return null;
end $$;

create or replace function switchyard.row_query_sql(target jsonb) returns text
language plpgsql stable set search_path = '' as $$
declare
  query jsonb := target -> 'query';
  part  record;
  rows_ text;
begin
  select * into part from switchyard.clauses(query, false);
  rows_ := format('select d.* from %s d where %s and %s order by ',
    switchyard.rows_sql(target -> 'table', target -> 'parents', switchyard.native_sql(target -> 'table', query -> 'filter')),
    part.source, part.conditions);
  if query ? 'last' then return rows_ || part.backwards || format(' limit %s', (query ->> 'last')::bigint); end if;
  return rows_ || part.sorted || format(' offset %s', coalesce((query ->> 'offset')::bigint, 0))
    || case when query ? 'first' then format(' limit %s', (query ->> 'first')::bigint) else '' end;
end $$;

-- What a select of rows brings, as reading functions answer it.
create or replace function switchyard.rows_json(rows_ text, fields jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  result jsonb;
begin
  execute format('select coalesce(jsonb_agg(%s || jsonb_build_object(''version'', d.version)), ''[]'') from (%s) d',
                 switchyard.document_sql('switchyard.projected(d.data, $1)'), rows_)
    into result using fields;
  return result;
end $$;

create or replace function switchyard.newest(documents jsonb) returns timestamptz
language sql immutable set search_path = '' as $$
  select max((d ->> 'updated')::timestamptz) from jsonb_array_elements(documents) d
$$;

-- Rows by their ids: [{"table": …, "parents": [value, …], "ids": [id, …]}, …]. Those that are there and may be read.
create or replace function public.switchyard_rows(targets jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  target jsonb;
  result jsonb := '[]';
begin
  for target in select jsonb_array_elements(targets) loop
    result := result || switchyard.rows_json(switchyard.row_ids_sql(target), null);
  end loop;
  return switchyard.answer(result, switchyard.newest(result));
end $$;

-- The results of a query over a table: {"table": …, "parents": …, "query": …}.
create or replace function public.switchyard_row_query(target jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  result jsonb := switchyard.rows_json(switchyard.row_query_sql(target), target -> 'query' -> 'fields');
begin
  return switchyard.answer(result, switchyard.newest(result));
end $$;

create or replace function public.switchyard_row_aggregate(target jsonb, aggregations jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  result jsonb;
begin
  execute format('select jsonb_build_array(%s) from (%s) d', switchyard.aggregate_columns(aggregations),
                 switchyard.row_query_sql(target)) into result;
  return result;
end $$;

-- All targets of a listener as of one moment, rows and documents: see switchyard_changes. A target of rows is always told
-- whole, or not at all while it is as it was: tables do not say what has left them.
create or replace function public.switchyard_look(targets jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  target  jsonb;
  found_  jsonb;
  digest  text;
  code    text;
  text_   text;
  answers jsonb := '[]';
  newest  timestamptz := statement_timestamp();
  others  jsonb := (select coalesce(jsonb_agg(t), '[]') from jsonb_array_elements(targets) t where not t ? 'table');
  result  jsonb := public.switchyard_changes(others);
begin
  for target in select t from jsonb_array_elements(targets) t where t ? 'table' loop
    begin
      found_ := switchyard.rows_json(
        case when target ? 'query' then switchyard.row_query_sql(target) else switchyard.row_ids_sql(target) end, null);
      newest := greatest(newest, switchyard.newest(found_));
      select md5(string_agg((d ->> 'path') || ' ' || (d ->> 'version'), ',')) into digest from jsonb_array_elements(found_) d;
      digest := coalesce(digest, 'none');
      answers := answers || case when target ->> 'since' = digest
        then jsonb_build_object('id', target -> 'id', 'same', true, 'digest', digest)
        else jsonb_build_object('id', target -> 'id', 'reset', true, 'documents', found_, 'digest', digest) end;
    exception when data_exception or program_limit_exceeded or undefined_column or undefined_table or undefined_function
        or insufficient_privilege or raise_exception then
      get stacked diagnostics code = returned_sqlstate, text_ = message_text;
      answers := answers || jsonb_build_object('id', target -> 'id', 'error', code, 'message', text_);
    end;
  end loop;
  return result || jsonb_build_object('targets', (result -> 'targets') || answers,
    'readTime', switchyard.time_text(switchyard.read_time(greatest(newest, (result ->> 'readTime')::timestamptz))));
end $$;
