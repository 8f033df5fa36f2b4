-- A value stands in `data` as its JSON equivalent. What JSON has no word for is an object with one key:
--   {"$num": "NaN" | "Infinity" | "-Infinity" | "-0"}    {"$ts": "2024-05-01T12:34:56.123456Z"}
--   {"$bytes": base64}    {"$geo": [latitude, longitude]}    {"$ref": path or [database, path]}
--   {"$vec": [numbers]}   {"$map": …}    a map that would otherwise look like one of these
-- A whole number has neither fraction nor exponent; a double that happens to be whole is written with ".0".
--
-- Here: names and values in an order that bytes have.

-- What earlier versions had.
do $$ begin
  if to_regproc('switchyard.reading_indexes') is not null then
    drop function if exists switchyard.query_sql(jsonb, text), switchyard.clauses(jsonb), switchyard.filter_sql(jsonb),
      switchyard.equals_sql(text[], jsonb), switchyard.contains_sql(text[], jsonb), switchyard.readable(boolean),
      switchyard.access_indexes(),
      switchyard.equals_nothing(jsonb), switchyard.forget_after(int), switchyard.is_name(text),
      switchyard.brings_malformed(jsonb), switchyard.deletes_by_path(text);
  end if;
end $$;

-- A path's place among others: by segments, those of the form __id7__ by their number and before all others.
create or replace function switchyard.place(path text) returns bytea
language plpgsql immutable strict parallel safe as $$
declare
  segment text;
  number  text;
  place   bytea := '';
begin
  foreach segment in array string_to_array(path, '/') loop
    number := substring(segment from '^__id(-?[0-9]{1,19})__$');
    if number is not null and number::numeric between -9223372036854775808 and 9223372036854775807 then
      place := place || '\x02'::bytea || int8send(number::bigint # (-9223372036854775808)) || '\x00'::bytea;
    else
      place := place || '\x03'::bytea || convert_to(segment, 'UTF8') || '\x00'::bytea;
    end if;
  end loop;
  return place;
end $$;

-- The double nearest to any number; the cast refuses what a double has no room for.
create or replace function switchyard.rough(number numeric) returns double precision
language sql immutable strict parallel safe as $$
  select case when number = 'NaN' then 'NaN'::float8
              when number > 1.7976931348623157e308 then 'Infinity'::float8
              when number < -1.7976931348623157e308 then '-Infinity'::float8
              when abs(number) < 2.4703282292062328e-324 then 0::float8
              else number::float8 end
$$;

-- A double's bits, ordered; then what a whole number beyond 2^53 has and a double has not.
create or replace function switchyard.number_key(number numeric) returns bytea
language plpgsql immutable strict parallel safe as $$
declare
  rough float8 := switchyard.rough(number);
  rest  int := 0;
  bits  bigint;
begin
  if abs(number) > 9007199254740992 and abs(number) <= 9223372036854775808 and scale(number) = 0 then
    rest := (number - (rough / 2)::bigint::numeric * 2)::int;
  end if;
  bits := ('x' || encode(float8send(rough), 'hex'))::bit(64)::bigint;
  bits := case when bits < 0 then ~bits else bits # (-9223372036854775808) end;
  return int8send(bits) || int2send((rest + 16384)::int2);
end $$;

-- Under which of the words above a value stands; null for a plain one, and for what only looks like one: that is a map.
create or replace function switchyard.word(value jsonb) returns text
language plpgsql immutable strict parallel safe as $$
declare
  tag     text;
  content jsonb;
  inner_  text;
begin
  if jsonb_typeof(value) <> 'object' then return null; end if;
  select k into tag from jsonb_object_keys(value) k limit 1;
  if tag is null or left(tag, 1) <> '$' or value - tag <> '{}' then return null; end if;
  content := value -> tag;
  inner_ := content #>> '{}';
  return case when case tag
    when '$num' then content in ('"NaN"', '"Infinity"', '"-Infinity"', '"-0"')
    when '$ts' then jsonb_typeof(content) = 'string' and inner_
      ~ '^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?Z$'
    when '$bytes' then jsonb_typeof(content) = 'string' and length(inner_) % 4 = 0 and inner_ ~ '^[A-Za-z0-9+/]*={0,2}$'
    when '$ref' then jsonb_typeof(content) = 'string' or (jsonb_typeof(content) = 'array' and jsonb_array_length(content) = 2
      and jsonb_typeof(content -> 0) = 'string' and jsonb_typeof(content -> 1) = 'string')
    when '$geo' then jsonb_typeof(content) = 'array' and jsonb_array_length(content) = 2
      and switchyard.is_number(content -> 0) and switchyard.is_number(content -> 1)
    when '$vec' then jsonb_typeof(content) = 'array'
      and not exists (select from jsonb_array_elements(content) e where not switchyard.is_number(e))
    when '$map' then jsonb_typeof(content) = 'object'
    else false end then tag end;
end $$;

create or replace function switchyard.is_number(value jsonb) returns boolean
language sql immutable strict parallel safe as $$
  select jsonb_typeof(value) = 'number' or value in ('{"$num": "NaN"}', '{"$num": "Infinity"}', '{"$num": "-Infinity"}', '{"$num": "-0"}')
$$;

-- Whether something in it looks like one of the words above and is none.
create or replace function switchyard.is_malformed(value jsonb) returns boolean
language plpgsql immutable strict parallel safe as $$
declare
  tag text;
begin
  if jsonb_typeof(value) = 'array' then
    return exists (select from jsonb_array_elements(value) e where switchyard.is_malformed(e));
  elsif jsonb_typeof(value) <> 'object' then
    return false;
  end if;
  tag := switchyard.word(value);
  if tag = '$map' then
    value := value -> tag;
  elsif tag is not null then
    return false;
  elsif (select count(*) = 1 and bool_and(left(k, 1) = '$') from jsonb_object_keys(value) k) then
    return true;
  end if;
  return exists (select from jsonb_each(value) m where switchyard.is_malformed(m.value));
end $$;

-- Bytes in the order of the values: null, false, true, NaN, numbers, times, strings, bytes, references, places on earth,
-- arrays, vectors, maps. Equal bytes are equal values: 1 and 1.0 are, and so are 0 and -0.
create or replace function switchyard.whole_key(value jsonb) returns bytea
language plpgsql immutable strict parallel safe as $$
declare
  tag     text;
  content jsonb;
  key     bytea;
begin
  case jsonb_typeof(value)
  when 'string' then return '\x1e'::bytea || convert_to(value #>> '{}', 'UTF8') || '\x00'::bytea;
  when 'number' then return '\x14'::bytea || switchyard.number_key((value #>> '{}')::numeric);
  when 'boolean' then return case when value = 'true' then '\x0a01'::bytea else '\x0a00'::bytea end;
  when 'null' then return '\x05'::bytea;
  when 'array' then
    key := '\x32';
    for content in select jsonb_array_elements(value) loop key := key || switchyard.whole_key(content); end loop;
    return key || '\x00'::bytea;
  else null;
  end case;

  tag := switchyard.word(value);
  if tag is not null then
    content := value -> tag;
    case tag
    when '$ts' then return '\x19'::bytea || convert_to(content #>> '{}', 'UTF8') || '\x00'::bytea;
    when '$num' then
      return '\x14'::bytea || case content #>> '{}'
        when 'NaN' then '\x00000000000000000000'::bytea
        when 'Infinity' then '\xfff00000000000004000'::bytea
        when '-Infinity' then '\x000fffffffffffff4000'::bytea
        else switchyard.number_key(0) end;
    when '$bytes' then
      return '\x23'::bytea || convert_to(encode(decode(content #>> '{}', 'base64'), 'hex'), 'UTF8') || '\x00'::bytea;
    when '$ref' then
      -- The path, or the name of another database and a path in it.
      if jsonb_typeof(content) = 'string' then content := jsonb_build_array('', content); end if;
      return '\x28'::bytea || convert_to(content ->> 0, 'UTF8') || '\x00'::bytea || switchyard.place(content ->> 1) || '\x00'::bytea;
    when '$geo' then
      return '\x2d'::bytea || switchyard.whole_key(content -> 0) || switchyard.whole_key(content -> 1);
    when '$vec' then
      key := '\x34'::bytea || int4send(jsonb_array_length(content));
      for content in select jsonb_array_elements(content) loop key := key || switchyard.whole_key(content); end loop;
      return key;
    when '$map' then value := content;
    else null;
    end case;
  end if;

  key := '\x37';
  for tag, content in select m.key, m.value from jsonb_each(value) m order by m.key collate "C" loop
    key := key || '\x01'::bytea || convert_to(tag, 'UTF8') || '\x00'::bytea || switchyard.whole_key(content);
  end loop;
  return key || '\x00'::bytea;
end $$;

-- What an index holds: an entry has room for a path and this much. Values that agree so far count as the same in an
-- order and at the edge of a range; equality looks at all of them.
create or replace function switchyard.key(value jsonb) returns bytea
language sql immutable strict parallel safe as $$
  select substr(switchyard.whole_key(value), 1, 800)
$$;

-- A time that readers can write, too; null for others, infinity among them.
create or replace function switchyard.known_time(at timestamptz) returns timestamptz
language sql immutable parallel safe as $$
  select case when at between '0001-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00' then at end
$$;

-- A time that readers cannot write is told as the beginning of all: whatever is written next is later. Stable, as `to_char`
-- is: a statement takes it in instead of calling it for each row.
create or replace function switchyard.time_text(at timestamptz) returns text
language sql stable parallel safe as $$
  select to_char(case when at is not null then coalesce(switchyard.known_time(at), 'epoch') end at time zone 'UTC',
                 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
$$;

-- The same for a column that is never null, as text for a statement: taking in a function costs a statement more than finding
-- a document does.
create or replace function switchyard.time_sql(column_ text) returns text
language sql immutable parallel safe as $$
  select format('to_char(case when %1$s between ''0001-01-01 00:00:00+00'' and ''9999-12-31 23:59:59.999999+00'' then %1$s
      else ''epoch'' end at time zone ''UTC'', ''YYYY-MM-DD"T"HH24:MI:SS.US"Z"'')', column_)
$$;

create or replace function switchyard.strings(list jsonb) returns text[]
language sql immutable strict parallel safe as $$ select array(select jsonb_array_elements_text(list)) $$;

create or replace function switchyard.nested(field text[], value jsonb) returns jsonb
language plpgsql immutable parallel safe as $$
begin
  for depth in reverse cardinality(field) .. 1 loop value := jsonb_build_object(field[depth], value); end loop;
  return value;
end $$;

create or replace function switchyard.put(data jsonb, field text[], value jsonb) returns jsonb
language plpgsql immutable parallel safe as $$
begin
  if data is null or jsonb_typeof(data) <> 'object' then data := '{}'; end if;
  if cardinality(field) = 1 then return data || jsonb_build_object(field[1], value); end if;
  return data || jsonb_build_object(field[1], switchyard.put(data -> field[1], field[2:], value));
end $$;
