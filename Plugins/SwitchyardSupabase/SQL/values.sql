-- A value stands in `data` as its JSON equivalent. What JSON has no word for is an object with one key:
--   {"$num": "NaN" | "Infinity" | "-Infinity" | "-0"}    {"$ts": "2024-05-01T12:34:56.123456Z"}
--   {"$bytes": base64}    {"$geo": [latitude, longitude]}    {"$ref": path or [database, path]}
--   {"$vec": [numbers]}   {"$map": …}    a map that would otherwise look like one of these
-- A whole number has neither fraction nor exponent; a double that happens to be whole is written with ".0".
--
-- Here: names and values in an order that bytes have.

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
  return case when case
    when tag = '$num' then content in ('"NaN"', '"Infinity"', '"-Infinity"', '"-0"')
    when tag = '$ts' then jsonb_typeof(content) = 'string' and inner_
      ~ '^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?Z$'
    when tag = '$bytes' then jsonb_typeof(content) = 'string' and length(inner_) % 4 = 0 and inner_ ~ '^[A-Za-z0-9+/]*={0,2}$'
    when tag = '$ref' then jsonb_typeof(content) = 'string' or (jsonb_typeof(content) = 'array' and jsonb_array_length(content) = 2
      and jsonb_typeof(content -> 0) = 'string' and jsonb_typeof(content -> 1) = 'string')
    when tag in ('$geo', '$vec') then jsonb_typeof(content) = 'array' and (tag = '$vec' or jsonb_array_length(content) = 2)
      and not exists (select from jsonb_array_elements(content) e where jsonb_typeof(e) <> 'number'
        and e not in ('{"$num": "NaN"}', '{"$num": "Infinity"}', '{"$num": "-Infinity"}', '{"$num": "-0"}'))
    when tag = '$map' then jsonb_typeof(content) = 'object'
    else false end then tag end;
end $$;

-- The double nearest to a number in either spelling; null for what is none. The cast refuses what a double has no room for.
create or replace function switchyard.as_double(value jsonb) returns double precision
language sql immutable parallel safe as $$
  select case
    when jsonb_typeof(value) = 'number' then
      case when (value #>> '{}')::numeric > 1.7976931348623157e308 then 'Infinity'::float8
           when (value #>> '{}')::numeric < -1.7976931348623157e308 then '-Infinity'::float8
           when abs((value #>> '{}')::numeric) < 2.4703282292062328e-324 then 0::float8
           else (value #>> '{}')::numeric::float8 end
    when switchyard.word(value) = '$num' then (value ->> '$num')::float8
  end
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
  number  numeric;
  rough   float8;
  rest    int := 0;
  bits    bigint;
begin
  case jsonb_typeof(value)
  when 'string' then return '\x1e'::bytea || convert_to(value #>> '{}', 'UTF8') || '\x00'::bytea;
  when 'number' then
    -- A double's bits, ordered; then what a whole number beyond 2^53 has and a double has not.
    number := (value #>> '{}')::numeric;
    rough := switchyard.as_double(value);
    if abs(number) > 9007199254740992 and abs(number) <= 9223372036854775808 and scale(number) = 0 then
      rest := (number - (rough / 2)::bigint::numeric * 2)::int;
    end if;
    bits := ('x' || encode(float8send(rough), 'hex'))::bit(64)::bigint;
    bits := case when bits < 0 then ~bits else bits # (-9223372036854775808) end;
    return '\x14'::bytea || int8send(bits) || int2send((rest + 16384)::int2);
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
        else '\x80000000000000004000'::bytea end;
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

-- A time as readers write it, to microseconds. One that they cannot write, infinity among them, is told as the beginning of all:
-- whatever is written next is later. In PL/pgSQL, for taking in a function costs a statement more than finding a document does.
create or replace function switchyard.time_text(at timestamptz) returns text
language plpgsql stable parallel safe as $$
begin
  return to_char(case when at between '0001-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00' then at
                      when at is not null then 'epoch' end at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
end $$;

create or replace function switchyard.strings(list jsonb) returns text[]
language sql immutable strict parallel safe as $$ select array(select jsonb_array_elements_text(list)) $$;

-- Data with a field, and without it where there is no value.
create or replace function switchyard.put(data jsonb, field text[], value jsonb) returns jsonb
language plpgsql immutable parallel safe as $$
begin
  if value is null then return case when data #> field is null then data else data #- field end; end if;
  if data is null or jsonb_typeof(data) <> 'object' then data := '{}'; end if;
  if cardinality(field) = 1 then return data || jsonb_build_object(field[1], value); end if;
  return data || jsonb_build_object(field[1], switchyard.put(data -> field[1], field[2:], value));
end $$;
