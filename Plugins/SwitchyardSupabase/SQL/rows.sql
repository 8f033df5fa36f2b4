-- Rows of a project's own tables, read, queried and watched as documents, with the caller's rights: see commits.sql. For clients
-- up to version 11, which do not ask for the tables themselves.

-- Rows as documents, under the names by which queries know them. Without parents, those of all collections.
create or replace function switchyard.rows_sql(table_ jsonb, parents jsonb, conditions text) returns text
language plpgsql stable set search_path = '' as $$
declare
  relation  regclass := to_regclass(format('%I.%I', table_ ->> 'schema', table_ ->> 'name'));
  has_xmin  boolean;
  path_     text := '';
  named     text := format('t.%I::text !~ ''/'' and t.%1$I::text not in ('''', ''.'', ''..'')', table_ ->> 'id');
  data_     text;
  time_     constant text := 'case when t.%1$I::timestamptz between ''0001-01-01 00:00:00+00'' and ''9999-12-31 23:59:59.999999+00''
                              then t.%1$I::timestamptz else ''epoch'' end';
  -- Without a column for it, a row's version is that it was read later.
  updated   text := case when table_ ? 'updated' then format(time_, table_ ->> 'updated') else 'statement_timestamp()' end;
  created   text := case when table_ ? 'created' then format(time_, table_ ->> 'created') else 'timestamptz ''epoch''' end;
  placed    text := 'true';
begin
  perform switchyard.column_type(table_, table_ ->> 'id');
  select c.relkind in ('r', 'p', 'm') into has_xmin from pg_catalog.pg_class c where c.oid = relation;
  for n in 0 .. jsonb_array_length(table_ -> 'parents') loop
    path_ := path_ || case when n > 0 then ' || ' else '' end || format('%L', table_ -> 'path' ->> n) || ' || '
      || format('t.%I::text', coalesce(table_ -> 'parents' ->> n, table_ ->> 'id'));
    if n < jsonb_array_length(table_ -> 'parents') then
      if parents is not null then
        placed := placed || ' and ' || coalesce(format('t.%I = ', table_ -> 'parents' ->> n)
          || switchyard.literal(parents ->> n, switchyard.column_type(table_, table_ -> 'parents' ->> n)), 'false');
      end if;
      named := named || format(' and t.%I::text !~ ''/'' and t.%1$I::text not in ('''', ''.'', ''..'')', table_ -> 'parents' ->> n);
    end if;
  end loop;
  select string_agg(format('(%L, %s)', f ->> 0,
           switchyard.from_column_sql(switchyard.column_type(table_, f ->> 1), format('t.%I', f ->> 1))), ', ')
    into data_ from jsonb_array_elements(table_ -> 'fields') f;
  return format('(select x.path, switchyard.place(x.path) as place, regexp_replace(x.path, ''/[^/]+$'', '''') as collection,
      %L::text as collection_id, x.data, coalesce(x.version, md5(x.data::text)) as version, x.created_at, x.updated_at
    from (select (%s) collate "C" as path, (select coalesce(jsonb_object_agg(f.k, f.v), ''{}'') from (values %s) f (k, v)
                             where f.v is not null) as data,
            %s as version, %s as created_at, %s as updated_at
          from %s t where %s and %s and %s) x)',
    substring(table_ -> 'path' ->> -1 from '([^/]+)/$'), path_, data_, case when has_xmin then 't.xmin::text' else 'null::text' end,
    created, updated, relation, named, placed, coalesce(conditions, 'true'));
end $$;

-- Rows by their ids.
create or replace function switchyard.row_ids_sql(target jsonb) returns text
language plpgsql stable set search_path = '' as $$
declare
  table_ jsonb := target -> 'table';
  type_  regtype := switchyard.column_type(table_, table_ ->> 'id');
  ids    text[];
begin
  select array_agg(l) into ids from (
    select switchyard.literal(i, type_) l from jsonb_array_elements_text(target -> 'ids') i) x where l is not null;
  return format('select d.* from %s d', switchyard.rows_sql(table_, target -> 'parents',
    case when ids is null then 'false' else format('t.%I in (%s)', table_ ->> 'id', array_to_string(ids, ', ')) end));
end $$;

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

-- Only the fields asked for, or all.
create or replace function switchyard.projected(data jsonb, fields jsonb) returns jsonb
language plpgsql immutable as $$
declare
  result jsonb := '{}';
  field  jsonb;
begin
  if jsonb_typeof(fields) is distinct from 'array' then return data; end if;
  for field in select jsonb_array_elements(fields) loop
    result := switchyard.put(result, switchyard.strings(field), data #> switchyard.strings(field));
  end loop;
  return result;
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
  return switchyard.answer(result, switchyard.newest(result), pg_current_snapshot());
end $$;

-- The results of a query over a table: {"table": …, "parents": …, "query": …}.
create or replace function public.switchyard_row_query(target jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  result jsonb := switchyard.rows_json(switchyard.row_query_sql(target), target -> 'query' -> 'fields');
begin
  return switchyard.answer(result, switchyard.newest(result), pg_current_snapshot());
end $$;

-- As switchyard_aggregate does it.
create or replace function public.switchyard_row_aggregate(target jsonb, aggregations jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
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
  execute format('select jsonb_build_array(%s) from (%s) d', array_to_string(columns, ', '), switchyard.row_query_sql(target))
    into result;
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
    'readTime', switchyard.answer(null, greatest(newest, (result ->> 'readTime')::timestamptz), pg_current_snapshot()) -> 'readTime');
end $$;
