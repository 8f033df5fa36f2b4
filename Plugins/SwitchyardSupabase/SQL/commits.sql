-- Rows of a project's own tables as documents. These functions run with the caller's rights: the tables' own grants and
-- policies decide, and nothing here goes around them.
--
-- A table, as clients describe it in each call:
--   {"schema": …, "name": …, "id": column, "parents": [column, …], "path": [text, …], "fields": [[field, column], …],
--    "created": column, "updated": column}
-- A row's path is the first text, the first parent's value, the second text, and so on, and its id behind the last text.

-- A column's type, of a table in one of the schemas that a project names: nothing else is reachable this way, whatever its grants.
create or replace function switchyard.column_type(table_ jsonb, column_ text) returns regtype
language plpgsql stable security definer set search_path = '' as $$
declare
  type_ oid;
  base  oid;
begin
  if not exists (select from switchyard.settings s where table_ ->> 'schema' = any (s.schemas)) then
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

-- SQL of a column's value as it stands in a document; null where there is none.
create or replace function switchyard.from_column_sql(type_ regtype, value_ text) returns text
language plpgsql stable set search_path = '' as $$
declare
  element regtype := (select nullif(t.typelem, 0)::regtype from pg_catalog.pg_type t where t.oid = type_ and t.typcategory = 'A');
begin
  return case
    when type_ in ('bool'::regtype, 'int2', 'int4', 'int8', 'jsonb') then format('to_jsonb(%s)', value_)
    when type_ = 'json'::regtype then format('(%s)::jsonb', value_)
    when type_ in ('float4'::regtype, 'float8') then format('switchyard.from_double((%s)::text::float8)', value_)
    when type_ = 'numeric'::regtype then
      format('switchyard.from_double(case when abs(%1$s) < ''Infinity'' then switchyard.as_double(to_jsonb(%1$s))
                                     else %1$s::float8 end)', value_)
    when type_ = 'timestamptz'::regtype then
      format('case when isfinite(%1$s) then jsonb_build_object(''$ts'', switchyard.time_text(%1$s)) end', value_)
    when type_ = 'timestamp'::regtype then
      format('case when isfinite(%1$s) then jsonb_build_object(''$ts'', switchyard.time_text(%1$s at time zone ''UTC'')) end', value_)
    when type_ = 'bytea'::regtype then
      format('case when %1$s is not null then jsonb_build_object(''$bytes'', translate(encode(%1$s, ''base64''), e''\n'', '''')) end', value_)
    when element is not null then
      format('case when %1$s is not null then (select coalesce(jsonb_agg(%2$s order by n), ''[]'') from unnest(%1$s) with ordinality e (v, n)) end',
             value_, switchyard.from_column_sql(element, 'e.v'))
    else format('to_jsonb((%s)::text)', value_) end;
end $$;

-- The text that a column of the type reads as the value; null where the value is of another kind.
create or replace function switchyard.column_text(value_ jsonb, type_ regtype) returns text
language plpgsql stable set search_path = '' as $$
declare
  kind    text := jsonb_typeof(value_);
  element regtype := (select nullif(t.typelem, 0)::regtype from pg_catalog.pg_type t where t.oid = type_ and t.typcategory = 'A');
begin
  if type_ in ('json'::regtype, 'jsonb') then return value_::text; end if;
  if type_ = 'bool'::regtype then return case kind when 'boolean' then value_::text end; end if;
  if type_ in ('int2'::regtype, 'int4', 'int8') then return case kind when 'number' then value_::text end; end if;
  if type_ in ('float4'::regtype, 'float8', 'numeric') then
    return case when kind = 'number' then value_::text when kind = 'object' and value_ ? '$num' then value_ ->> '$num' end;
  end if;
  if type_ in ('timestamptz'::regtype, 'timestamp') then return case kind when 'object' then value_ ->> '$ts' end; end if;
  if type_ = 'bytea'::regtype then
    return case when kind = 'object' and value_ ? '$bytes' then '\x' || encode(decode(value_ ->> '$bytes', 'base64'), 'hex') end;
  end if;
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

-- The ledger, for a function that may not write it.
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
  relation regclass := to_regclass(format('%I.%I', table_ ->> 'schema', table_ ->> 'name'));
  updated  text := table_ ->> 'updated';
  time_    text := 'coalesce(switchyard.time_text(t.' || quote_ident(updated) || '::timestamptz)::timestamptz, timestamptz ''epoch'')';
  key_     record;
  keys     text[] := '{}';
  key_constants text[] := '{}';
  place_   text;
  reading  text;
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
  -- Which row, by what its parents and itself are named; none where a column cannot hold its part of the path.
  for key_ in select p.column_, entry -> 'parents' ->> (p.n - 1)::int as value_
                from jsonb_array_elements_text(table_ -> 'parents') with ordinality p (column_, n)
              union all select table_ ->> 'id', entry ->> 'id' loop
    keys := keys || key_.column_;
    key_constants := key_constants || switchyard.literal(key_.value_, switchyard.column_type(table_, key_.column_));
  end loop;
  select string_agg(coalesce(format('t.%I = ', k) || c, 'false'), ' and ') into place_ from unnest(keys, key_constants) u (k, c);
  -- As a document. Its version is that of the row, and of what has none, what is in it.
  select format('select x.data, coalesce(x.version, md5(x.data::text)) as version, x.updated_at from (
        select (select coalesce(jsonb_object_agg(f.k, f.v), ''{}'') from (values %s) f (k, v) where f.v is not null) as data,
          %s as version, %s as updated_at from %s t where %s) x',
      string_agg(format('(%L, %s)', f ->> 0,
        switchyard.from_column_sql(switchyard.column_type(table_, f ->> 1), format('t.%I', f ->> 1))), ', '),
      case when (select c.relkind in ('r', 'p', 'm') from pg_catalog.pg_class c where c.oid = relation)
           then 't.xmin::text' else 'null::text' end,
      coalesce(time_, 'statement_timestamp()'), relation, place_)
    into reading from jsonb_array_elements(table_ -> 'fields') f;
  for attempt in 1 .. 20 loop
    execute reading into old;
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
      execute format('delete from %s t where %s', relation, place_);
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
        data := switchyard.put(data, field, (entry -> 'data') #> field);
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
      execute format('update %s t set %s where %s and %s', relation,
        (select string_agg(c || ' = ' || v, ', ') from unnest(columns_, constants) u (c, v)), place_,
        case when old.version ~ '^[0-9]+$' then format('t.xmin::text = %L', old.version) else 'true' end);
    else
      for key_ in select * from unnest(keys, key_constants) u (column_, constant) loop
        continue when format('%I', key_.column_) = any (columns_);
        if key_.constant is null then
          raise exception 'the column “%” cannot hold that part of the path', key_.column_ using errcode = '22023', detail = index_;
        end if;
        columns_ := columns_ || format('%I', key_.column_);
        constants := constants || key_.constant;
      end loop;
      begin
        execute format('insert into %s (%s) values (%s)', relation, array_to_string(columns_, ', '), array_to_string(constants, ', '));
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
    execute format('select %s as updated_at from %s t where %s', time_, relation, place_) into old;
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
  answer_ := public.switchyard_outcome(batch);
  if answer_ is not null then return answer_; end if;
  perform switchyard.begin_writes(array(select w ->> 'path' from jsonb_array_elements(writes) w));
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
  perform switchyard.begin_writes(array(
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
