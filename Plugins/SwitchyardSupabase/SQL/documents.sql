-- Documents on PostgreSQL 15 and later. Run it as the role that owns the schema; running it again changes nothing.
--
-- A value stands in `data` as its JSON equivalent. What JSON has no word for is an object with one key:
--   {"$num": "NaN" | "Infinity" | "-Infinity" | "-0"}    {"$ts": "2024-05-01T12:34:56.123456Z"}
--   {"$bytes": base64}    {"$geo": [latitude, longitude]}    {"$ref": path}    {"$vec": [numbers]}
--   {"$map": …}           a map that would otherwise look like one of these
-- A whole number has neither fraction nor exponent; a double that happens to be whole is written with ".0".

create schema if not exists switchyard;

create table if not exists switchyard.documents (
  path       text collate "C" primary key check (path ~ '^[^/]+/[^/]+(/[^/]+/[^/]+)*$' and octet_length(path) <= 900),
  collection text collate "C" not null,
  data       jsonb not null check (jsonb_typeof(data) = 'object'),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index if not exists documents_collection on switchyard.documents (collection, path);

-- Batches that took effect, by their own names: a batch that is sent again is answered, not carried out.
create table if not exists switchyard.batches (
  id      text primary key,
  answer  jsonb not null,
  kept_at timestamptz not null default clock_timestamp()
);

create or replace function switchyard.time_text(at timestamptz) returns text
language sql immutable parallel safe as $$
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
$$;

-- The double behind a number in either spelling; null for what is none.
create or replace function switchyard.as_double(value jsonb) returns double precision
language sql immutable parallel safe as $$
  select case
    when jsonb_typeof(value) = 'number' then (value #>> '{}')::numeric::float8
    when jsonb_typeof(value) = 'object' and value ? '$num' then (value ->> '$num')::float8
  end
$$;

create or replace function switchyard.is_whole(value jsonb) returns boolean
language sql immutable parallel safe as $$
  select jsonb_typeof(value) = 'number' and scale((value #>> '{}')::numeric) = 0
     and (value #>> '{}')::numeric between -9223372036854775808 and 9223372036854775807
$$;

create or replace function switchyard.from_double(number double precision) returns jsonb
language sql immutable parallel safe as $$
  select case
    when number in ('NaN', 'Infinity', '-Infinity') then jsonb_build_object('$num', number::text)
    when number = 0 and number::text = '-0' then '{"$num": "-0"}'::jsonb
    when scale(number::numeric) = 0 then to_jsonb(number::numeric::numeric(1000, 1))
    else to_jsonb(number::numeric)
  end
$$;

create or replace function switchyard.put(data jsonb, field text[], value jsonb) returns jsonb
language plpgsql immutable parallel safe as $$
begin
  if data is null or jsonb_typeof(data) <> 'object' then data := '{}'; end if;
  if cardinality(field) = 1 then return data || jsonb_build_object(field[1], value); end if;
  return data || jsonb_build_object(field[1], switchyard.put(data -> field[1], field[2:], value));
end $$;

create or replace function switchyard.transformed(old jsonb, transform jsonb, at timestamptz) returns jsonb
language plpgsql immutable parallel safe as $$
declare
  operand jsonb := transform -> 'value';
  mine    float8 := switchyard.as_double(old);
  theirs  float8 := switchyard.as_double(operand);
  element jsonb;
  result  jsonb;
begin
  case transform ->> 'op'
  when 'serverTime' then
    return jsonb_build_object('$ts', switchyard.time_text(at));
  when 'increment' then
    if mine is null then return operand; end if;
    if switchyard.is_whole(old) and switchyard.is_whole(operand) then
      return to_jsonb(least(greatest((old #>> '{}')::numeric + (operand #>> '{}')::numeric,
                                     -9223372036854775808), 9223372036854775807));
    end if;
    return switchyard.from_double(mine + theirs);
  when 'maximum', 'minimum' then
    -- NaN wins either way; of equal numbers the stored one stays.
    if mine is null then return operand; end if;
    if mine = 'NaN' then return old; end if;
    if theirs = 'NaN' then return operand; end if;
    if switchyard.is_whole(old) and switchyard.is_whole(operand) then
      return case when ((operand #>> '{}')::numeric > (old #>> '{}')::numeric) = (transform ->> 'op' = 'maximum')
                   and (operand #>> '{}')::numeric <> (old #>> '{}')::numeric then operand else old end;
    end if;
    return case when (theirs > mine) = (transform ->> 'op' = 'maximum') and theirs <> mine then operand else old end;
  when 'arrayUnion' then
    result := case when jsonb_typeof(old) = 'array' then old else '[]'::jsonb end;
    for element in select jsonb_array_elements(operand) loop
      if not exists (select from jsonb_array_elements(result) has where has = element) then
        result := result || jsonb_build_array(element);
      end if;
    end loop;
    return result;
  when 'arrayRemove' then
    if jsonb_typeof(old) is distinct from 'array' then return '[]'; end if;
    return coalesce((select jsonb_agg(has order by place) from jsonb_array_elements(old) with ordinality as a (has, place)
                     where not exists (select from jsonb_array_elements(operand) gone where gone = has)), '[]');
  else
    raise exception 'unknown transform' using errcode = '22023';
  end case;
end $$;

-- Carries out all writes of a batch, in order, or none. A batch that took effect before is answered as it was then.
--
-- A write: {"op": "set" | "patch" | "delete" | "verify", "path": …, "data": {…}, "mask": [[name, …], …],
--           "transforms": [{"field": [name, …], "op": …, "value": …}], "exists": true | false, "updateTime": …}
-- Refusals: PT404 missing, PT409 there already, PT412 another version, 22023 malformed; the detail has the write's place.
create or replace function switchyard.commit(batch text, writes jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  place     int := -1;
  entry     jsonb;
  step      jsonb;
  field     text[];
  value     jsonb;
  old       switchyard.documents;
  is_there  boolean;
  data      jsonb;
  at        timestamptz;
  key       bigint;
  outcomes  jsonb := '[]';
  values_of jsonb;
  answer    jsonb;
begin
  perform pg_advisory_xact_lock(hashtextextended(batch, 1));
  select b.answer into answer from switchyard.batches b where b.id = batch;
  if found then return answer; end if;

  -- One lock for each path, always in the same order: it also covers paths without a row, and cannot deadlock.
  for key in select distinct hashtextextended(w ->> 'path', 0) from jsonb_array_elements(writes) w order by 1 loop
    perform pg_advisory_xact_lock(key);
  end loop;
  select greatest(clock_timestamp(), max(d.updated_at) + interval '1 microsecond') into at
    from switchyard.documents d where d.path in (select w ->> 'path' from jsonb_array_elements(writes) w);

  for entry in select jsonb_array_elements(writes) loop
    place := place + 1;
    select d.* into old from switchyard.documents d where d.path = entry ->> 'path' for update;
    is_there := found;
    if entry ->> 'exists' = 'false' and is_there then
      raise exception 'the document exists' using errcode = 'PT409', detail = place;
    elsif (entry ->> 'exists' = 'true' and not is_there) then
      raise exception 'the document does not exist' using errcode = 'PT404', detail = place;
    elsif entry ? 'updateTime' and (not is_there or old.updated_at <> (entry ->> 'updateTime')::timestamptz) then
      raise exception 'the document has changed' using errcode = 'PT412', detail = place;
    end if;

    values_of := '[]';
    case entry ->> 'op'
    when 'verify' then
      outcomes := outcomes || jsonb_build_object('updateTime', switchyard.time_text(old.updated_at));
      continue;
    when 'delete' then
      delete from switchyard.documents d where d.path = entry ->> 'path';
      outcomes := outcomes || '{}'::jsonb;
      continue;
    when 'set' then data := coalesce(entry -> 'data', '{}');
    when 'patch' then
      data := case when is_there then old.data else '{}'::jsonb end;
      for step in select jsonb_array_elements(coalesce(entry -> 'mask', '[]')) loop
        field := array(select jsonb_array_elements_text(step));
        value := (entry -> 'data') #> field;
        data := case when value is null then data #- field else switchyard.put(data, field, value) end;
      end loop;
    else raise exception 'unknown write' using errcode = '22023', detail = place;
    end case;
    for step in select jsonb_array_elements(coalesce(entry -> 'transforms', '[]')) loop
      field := array(select jsonb_array_elements_text(step -> 'field'));
      value := switchyard.transformed(data #> field, step, at);
      data := switchyard.put(data, field, value);
      values_of := values_of || jsonb_build_array(value);
    end loop;

    insert into switchyard.documents as d (path, collection, data, created_at, updated_at)
      values (entry ->> 'path', regexp_replace(entry ->> 'path', '/[^/]+$', ''), data, at, at)
      on conflict (path) do update set data = excluded.data, updated_at = excluded.updated_at;
    outcomes := outcomes || jsonb_build_object('updateTime', switchyard.time_text(at), 'transforms', values_of);
  end loop;

  answer := jsonb_build_object('commitTime', switchyard.time_text(at), 'results', outcomes);
  insert into switchyard.batches (id, answer) values (batch, answer);
  return answer;
end $$;
