-- Rows of a project's own tables as documents. These functions run with the caller's rights: the tables' own grants and
-- policies decide, and nothing here goes around them.
--
-- A table, as clients describe it in each call:
--   {"schema": …, "name": …, "id": column, "parents": [column, …], "path": [text, …], "fields": [[field, column], …],
--    "created": column, "updated": column}
-- A row's path is the first text, the first parent's value, the second text, and so on, and its id behind the last text.

-- Only schemas that a project names are reachable this way, whatever their grants.
create or replace function switchyard.is_reachable(schema_ text) returns boolean
language sql stable security definer set search_path = '' as $$ select schema_ = any (s.schemas) from switchyard.settings s $$;

create or replace function switchyard.column_type(table_ jsonb, column_ text) returns regtype
language plpgsql stable set search_path = '' as $$
declare
  type_ oid;
  base  oid;
begin
  if not switchyard.is_reachable(table_ ->> 'schema') then
    raise exception 'the schema “%” is not open to documents', table_ ->> 'schema' using errcode = '42501';
  end if;
  select a.atttypid into type_ from pg_catalog.pg_attribute a
    where a.attrelid = to_regclass(format('%I.%I', table_ ->> 'schema', table_ ->> 'name')) and a.attname = column_
      and a.attnum > 0 and not a.attisdropped;
  if type_ is null then
    raise exception 'the table “%” is missing or has no column “%”', table_ ->> 'name', column_ using errcode = '42703';
  end if;
  select nullif(t.typbasetype, 0) into base from pg_catalog.pg_type t where t.oid = type_;
  return coalesce(base, type_)::regtype;
end $$;

create or replace function switchyard.element_type(type_ regtype) returns regtype
language sql stable set search_path = '' as $$
  select nullif(t.typelem, 0)::regtype from pg_catalog.pg_type t where t.oid = type_ and t.typcategory = 'A'
$$;

-- SQL of a column's value as it stands in a document; null where there is none.
create or replace function switchyard.from_column_sql(type_ regtype, value_ text) returns text
language plpgsql stable set search_path = '' as $$
begin
  return case
    when type_ in ('bool'::regtype, 'int2', 'int4', 'int8', 'jsonb') then format('to_jsonb(%s)', value_)
    when type_ = 'json'::regtype then format('(%s)::jsonb', value_)
    when type_ in ('float4'::regtype, 'float8') then format('switchyard.from_double((%s)::text::float8)', value_)
    when type_ = 'numeric'::regtype then format('switchyard.from_double(switchyard.rough(%s))', value_)
    when type_ = 'timestamptz'::regtype then
      format('case when isfinite(%1$s) then jsonb_build_object(''$ts'', %2$s) end', value_, switchyard.time_sql(value_))
    when type_ = 'timestamp'::regtype then
      format('case when isfinite(%1$s) then jsonb_build_object(''$ts'', %2$s) end', value_,
        switchyard.time_sql('(' || value_ || ' at time zone ''UTC'')'))
    when type_ = 'bytea'::regtype then
      format('case when %1$s is not null then jsonb_build_object(''$bytes'', translate(encode(%1$s, ''base64''), e''\n'', '''')) end', value_)
    when switchyard.element_type(type_) is not null then
      format('case when %1$s is not null then (select coalesce(jsonb_agg(%2$s order by n), ''[]'') from unnest(%1$s) with ordinality e (v, n)) end',
             value_, switchyard.from_column_sql(switchyard.element_type(type_), 'e.v'))
    else format('to_jsonb((%s)::text)', value_) end;
end $$;

-- The text that a column of the type reads as the value; null where the value is of another kind.
create or replace function switchyard.column_text(value_ jsonb, type_ regtype) returns text
language plpgsql stable set search_path = '' as $$
declare
  kind    text := jsonb_typeof(value_);
  element regtype;
begin
  if type_ in ('json'::regtype, 'jsonb') then return value_::text; end if;
  if type_ = 'bool'::regtype then return case kind when 'boolean' then value_::text end; end if;
  if type_ in ('int2'::regtype, 'int4', 'int8') then return case when switchyard.is_whole(value_) then value_::text end; end if;
  if type_ in ('float4'::regtype, 'float8', 'numeric') then
    return case when kind = 'number' then value_::text when kind = 'object' and value_ ? '$num' then value_ ->> '$num' end;
  end if;
  if type_ in ('timestamptz'::regtype, 'timestamp') then return case kind when 'object' then value_ ->> '$ts' end; end if;
  if type_ = 'bytea'::regtype then
    return case when kind = 'object' and value_ ? '$bytes' then '\x' || encode(decode(value_ ->> '$bytes', 'base64'), 'hex') end;
  end if;
  element := switchyard.element_type(type_);
  if element is not null then
    if kind <> 'array' then return null; end if;
    if exists (select from jsonb_array_elements(value_) e where e <> 'null' and switchyard.column_text(e, element) is null) then
      return null;
    end if;
    return (select coalesce(array_agg(case when e <> 'null' then switchyard.column_text(e, element) end), '{}')::text
            from jsonb_array_elements(value_) e);
  end if;
  return case kind when 'string' then value_ #>> '{}' end;
end $$;

-- A constant of the type; null where the text is none.
create or replace function switchyard.literal(text_ text, type_ regtype) returns text
language plpgsql stable set search_path = '' as $$
begin
  if text_ is null then return null; end if;
  execute format('select %L::%s', text_, type_);
  return format('%L::%s', text_, type_);
exception when data_exception then
  return null;
end $$;

-- The conditions on the parents of a collection, or of one row in it.
create or replace function switchyard.row_place(table_ jsonb, parents jsonb, id text) returns text
language plpgsql stable set search_path = '' as $$
declare
  parts text[] := '{}';
  step  record;
begin
  for step in select p.column_, parents ->> (p.n - 1)::int as value_
                from jsonb_array_elements_text(table_ -> 'parents') with ordinality p (column_, n)
              union all select table_ ->> 'id', id where id is not null loop
    parts := parts || coalesce(format('t.%I = ', step.column_)
      || switchyard.literal(step.value_, switchyard.column_type(table_, step.column_)), 'false');
  end loop;
  return case when cardinality(parts) = 0 then 'true' else array_to_string(parts, ' and ') end;
end $$;

-- A column's time, or the beginning of all where the column has none that can be told.
create or replace function switchyard.column_time_sql(column_ text) returns text
language sql immutable set search_path = '' as $$
  select format('coalesce(switchyard.known_time(t.%I::timestamptz), timestamptz ''epoch'')', column_)
$$;

-- Rows as documents, under the names by which queries know them. Without parents, those of all collections.
create or replace function switchyard.rows_sql(table_ jsonb, parents jsonb, conditions text) returns text
language plpgsql stable set search_path = '' as $$
declare
  relation  regclass := to_regclass(format('%I.%I', table_ ->> 'schema', table_ ->> 'name'));
  has_xmin  boolean;
  path_     text := '';
  named     text := format('t.%I::text !~ ''/'' and t.%1$I::text not in ('''', ''.'', ''..'')', table_ ->> 'id');
  data_     text;
  -- Without a column for it, a row's version is that it was read later.
  updated   text := case when table_ ? 'updated' then switchyard.column_time_sql(table_ ->> 'updated')
                    else 'statement_timestamp()' end;
  created   text := case when table_ ? 'created' then switchyard.column_time_sql(table_ ->> 'created')
                    else 'timestamptz ''epoch''' end;
begin
  perform switchyard.column_type(table_, table_ ->> 'id');
  select c.relkind in ('r', 'p', 'm') into has_xmin from pg_catalog.pg_class c where c.oid = relation;
  for n in 0 .. jsonb_array_length(table_ -> 'parents') loop
    path_ := path_ || case when n > 0 then ' || ' else '' end || format('%L', table_ -> 'path' ->> n) || ' || '
      || format('t.%I::text', coalesce(table_ -> 'parents' ->> n, table_ ->> 'id'));
    if n < jsonb_array_length(table_ -> 'parents') then
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
    created, updated, relation, named,
    case when parents is null then 'true' else switchyard.row_place(table_, parents, null) end, coalesce(conditions, 'true'));
end $$;

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

-- The ledger, for a function that may not see it.
create or replace function switchyard.recall(batch text) returns jsonb
language sql security definer set search_path = '' as $$
  select b.answer from switchyard.batches b where b.id = batch and b.owner = coalesce(switchyard.caller(), '')
$$;

create or replace function switchyard.remember(batch text, answer jsonb) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  insert into switchyard.batches (id, owner, answer) values (batch, coalesce(switchyard.caller(), ''), answer);
  if random() < 0.04 then perform switchyard.forget(); end if;
end $$;

-- One write to a row; answers {"updateTime": …, "transforms": […]}.
create or replace function switchyard.write_row(entry jsonb, index_ int, at timestamptz) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  table_   jsonb := entry -> 'table';
  name_    text := format('%I.%I', table_ ->> 'schema', table_ ->> 'name');
  updated  text := table_ ->> 'updated';
  place_   text;
  old      record;
  is_there boolean;
  data     jsonb;
  step     jsonb;
  field    text[];
  value_   jsonb;
  values_  jsonb := '[]';
  touched_ text[] := '{}';
  columns_ text[];
  constants text[];
  column_  text;
  count_   int;
begin
  place_ := switchyard.row_place(table_, entry -> 'parents', entry ->> 'id');
  for attempt in 1 .. 20 loop
    execute format('select d.data, d.version, d.updated_at from (%s) d',
      switchyard.row_ids_sql(jsonb_build_object('table', table_, 'parents', entry -> 'parents', 'ids', jsonb_build_array(entry -> 'id'))))
      into old;
    get diagnostics count_ = row_count;
    is_there := count_ > 0;
    if entry ->> 'exists' = 'false' and is_there then
      raise exception 'the document exists' using errcode = 'PT409', detail = index_;
    elsif entry ->> 'exists' = 'true' and not is_there then
      raise exception 'the document does not exist' using errcode = 'PT404', detail = index_;
    elsif entry ? 'version' then
      if not is_there or old.version is distinct from entry ->> 'version' then
        raise exception 'the document has changed' using errcode = 'PT412', detail = index_;
      end if;
    elsif entry ? 'updateTime' then
      if updated is null then
        raise exception 'the table “%” has no column for versions', table_ ->> 'name' using errcode = '0A000', detail = index_;
      elsif not is_there or old.updated_at <> (entry ->> 'updateTime')::timestamptz then
        raise exception 'the document has changed' using errcode = 'PT412', detail = index_;
      end if;
    end if;
    if entry ->> 'op' = 'verify' then
      return jsonb_build_object('updateTime', case when is_there then switchyard.time_text(old.updated_at) end);
    elsif entry ->> 'op' = 'delete' then
      execute format('delete from %s t where %s', name_, place_);
      get diagnostics count_ = row_count;
      if is_there and count_ = 0 then raise exception 'not allowed' using errcode = '42501', detail = index_; end if;
      return '{}';
    end if;

    values_ := '[]';
    if entry ->> 'op' = 'set' then
      data := coalesce(entry -> 'data', '{}');
      touched_ := array(select f ->> 0 from jsonb_array_elements(table_ -> 'fields') f);
    else
      data := case when is_there then old.data else '{}'::jsonb end;
      touched_ := '{}';
      for step in select jsonb_array_elements(coalesce(entry -> 'mask', '[]')) loop
        field := switchyard.strings(step);
        value_ := (entry -> 'data') #> field;
        data := case when value_ is null then data #- field else switchyard.put(data, field, value_) end;
        touched_ := touched_ || field[1];
      end loop;
    end if;
    for step in select jsonb_array_elements(coalesce(entry -> 'transforms', '[]')) loop
      field := switchyard.strings(step -> 'field');
      value_ := switchyard.transformed(data #> field, step, at);
      data := switchyard.put(data, field, value_);
      values_ := values_ || jsonb_build_array(value_);
      touched_ := touched_ || field[1];
    end loop;
    touched_ := array(select distinct t from unnest(touched_ || array(select jsonb_object_keys(entry -> 'data')
                                                   where entry ->> 'op' = 'set')) t);

    columns_ := '{}';
    constants := '{}';
    for n in 1 .. cardinality(touched_) loop
      declare
        type_    regtype;
        constant text;
      begin
        column_ := (select f ->> 1 from jsonb_array_elements(table_ -> 'fields') f where f ->> 0 = touched_[n]);
        if column_ is null then
          raise exception 'the table “%” has no column for the field “%”', table_ ->> 'name', touched_[n]
            using errcode = '22023', detail = index_;
        end if;
        type_ := switchyard.column_type(table_, column_);
        value_ := data -> touched_[n];
        constant := case when value_ is null then 'default' when value_ = 'null' then 'null'
                    else switchyard.literal(switchyard.column_text(value_, type_), type_) end;
        if constant is null then
          raise exception 'the column “%” (%) cannot hold the value of the field “%”', column_, type_, touched_[n]
            using errcode = '22023', detail = index_;
        end if;
        -- A new row takes its defaults by itself.
        continue when constant = 'default' and not is_there;
        columns_ := columns_ || format('%I', column_);
        constants := constants || constant;
      end;
    end loop;
    -- A version is later than the one before, also if the clock has gone back.
    if updated is not null and old.updated_at >= at then at := old.updated_at + interval '1 microsecond'; end if;
    foreach column_ in array array_remove(array[updated, case when not is_there then table_ ->> 'created' end], null) loop
      continue when format('%I', column_) = any (columns_);
      columns_ := columns_ || format('%I', column_);
      constants := constants || format('%L::timestamptz', at);
    end loop;

    if is_there then
      if cardinality(columns_) = 0 then exit; end if;
      execute format('update %s t set %s where %s and %s', name_,
        (select string_agg(c || ' = ' || v, ', ') from unnest(columns_, constants) u (c, v)), place_,
        case when old.version ~ '^[0-9]+$' then format('t.xmin::text = %L', old.version) else 'true' end);
    else
      for step in select jsonb_build_array(p, entry -> 'parents' ->> (n - 1)::int)
                    from jsonb_array_elements_text(table_ -> 'parents') with ordinality x (p, n)
                  union all select jsonb_build_array(table_ ->> 'id', entry ->> 'id') loop
        continue when format('%I', step ->> 0) = any (columns_);
        value_ := to_jsonb(switchyard.literal(step ->> 1, switchyard.column_type(table_, step ->> 0)));
        if value_ is null then
          raise exception 'the column “%” cannot hold that part of the path', step ->> 0 using errcode = '22023', detail = index_;
        end if;
        columns_ := columns_ || format('%I', step ->> 0);
        constants := constants || (value_ #>> '{}');
      end loop;
      begin
        execute format('insert into %s (%s) values (%s)', name_, array_to_string(columns_, ', '), array_to_string(constants, ', '));
      exception when unique_violation then
        -- Either somebody was faster, or the key is taken where the caller cannot see it.
        if attempt < 3 then continue; end if;
        raise exception 'the document exists' using errcode = 'PT409', detail = index_;
      end;
    end if;
    get diagnostics count_ = row_count;
    exit when count_ > 0;
    -- A direct writer was faster, or a policy does not let the row be changed.
    if attempt = 20 then raise exception 'not allowed' using errcode = '42501', detail = index_; end if;
  end loop;

  if updated is not null then
    execute format('select %s as updated_at from %s t where %s', switchyard.column_time_sql(updated), name_, place_) into old;
    at := coalesce(old.updated_at, at);
  end if;
  return jsonb_build_object('updateTime', switchyard.time_text(at), 'transforms', values_);
end $$;

-- Like switchyard_commit, with rows among the documents: such a write has {"table": …, "parents": […], "id": …} beside its
-- path. All of it or nothing, once. The documents are one commit, since some rules look at all of them together.
create or replace function public.switchyard_commit_rows(batch text, writes jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  at       timestamptz;
  entry    record;
  part     jsonb;
  indexes  int[];
  outcomes jsonb[];
  answer_  jsonb;
  code     text;
  words    text;
  index_   text;
begin
  if jsonb_typeof(writes) is distinct from 'array' or jsonb_array_length(writes) not between 1 and 500
    or octet_length(batch) <= 490 is not true then
    raise exception 'a batch has a name of up to 490 bytes and 1 to 500 writes' using errcode = '22023';
  end if;
  perform pg_advisory_xact_lock(hashtextextended(coalesce(switchyard.caller(), '') || '/' || batch, 1));
  answer_ := switchyard.recall(batch);
  if answer_ is not null then return answer_; end if;
  perform switchyard.settle();
  perform switchyard.lock_paths(array(select w ->> 'path' from jsonb_array_elements(writes) w));
  perform pg_current_xact_id();
  at := clock_timestamp();

  select array_agg(t.n - 1 order by t.n), jsonb_agg(t.w order by t.n) into indexes, part
    from jsonb_array_elements(writes) with ordinality t (w, n) where not t.w ? 'table';
  if indexes is not null then
    begin
      part := public.switchyard_commit(batch || '#documents', part);
    exception when others then
      get stacked diagnostics code = returned_sqlstate, words = message_text, index_ = pg_exception_detail;
      if index_ ~ '^\d{1,3}$' then index_ := indexes[index_::int + 1]; end if;
      raise exception '%', words using errcode = code, detail = index_;
    end;
    at := greatest(at, (part ->> 'commitTime')::timestamptz);
    for n in 1 .. cardinality(indexes) loop outcomes[indexes[n] + 1] := part -> 'results' -> (n - 1); end loop;
  end if;
  for entry in select t.w, t.n from jsonb_array_elements(writes) with ordinality t (w, n) where t.w ? 'table' order by t.n loop
    part := switchyard.write_row(entry.w, entry.n::int - 1, at);
    at := greatest(at, (part ->> 'updateTime')::timestamptz);
    outcomes[entry.n] := part;
  end loop;
  answer_ := jsonb_build_object('commitTime', switchyard.time_text(at), 'results', to_jsonb(outcomes));
  perform switchyard.remember(batch, answer_);
  return answer_;
end $$;

-- Several batches of the caller, in order: [{"batch": …, "writes": […]}, …]. Each is carried out as switchyard_commit or
-- switchyard_commit_rows does it, by itself: completely or not at all, and once. Stops before the first batch that cannot be
-- carried out; sent by itself, it gets the reason. Answers the answers of the batches before that.
create or replace function public.switchyard_commit_many(batches jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  me       text := coalesce(switchyard.caller(), '');
  lock_key bigint;
  part     jsonb;
  answers  jsonb := '[]';
begin
  if jsonb_typeof(batches) is distinct from 'array' or jsonb_array_length(batches) not between 1 and 100
    or exists (select from jsonb_array_elements(batches) b
               where jsonb_typeof(b -> 'batch') is distinct from 'string' or jsonb_typeof(b -> 'writes') is distinct from 'array') then
    raise exception 'a call has 1 to 100 batches, each with a name and writes' using errcode = '22023';
  end if;
  -- The locks of all batches, in the order in which everybody takes them: the batches have an order of their own.
  for lock_key in select distinct hashtextextended(me || '/' || (b ->> 'batch'), 1) from jsonb_array_elements(batches) b order by 1 loop
    perform pg_advisory_xact_lock(lock_key);
  end loop;
  perform switchyard.lock_paths(array(
    select w ->> 'path' from jsonb_array_elements(batches) b, jsonb_array_elements(b -> 'writes') w));
  for part in select jsonb_array_elements(batches) loop
    begin
      if exists (select from jsonb_array_elements(part -> 'writes') w where w ? 'table') then
        answers := answers || jsonb_build_array(public.switchyard_commit_rows(part ->> 'batch', part -> 'writes'));
      else
        answers := answers || jsonb_build_array(public.switchyard_commit(part ->> 'batch', part -> 'writes'));
      end if;
    exception when others then
      exit;
    end;
  end loop;
  return answers;
end $$;
