-- Queries as SQL text with constants in it: what an index can answer, it answers.

-- Whether what equals `value` has the same JSON, fractions of numbers aside: zero has two spellings.
create or replace function switchyard.has_one_spelling(value jsonb) returns boolean
language sql immutable parallel safe as $$
  select not jsonb_path_exists(value, '$.** ? (@ == 0 || @ == "-0")')
$$;

create or replace function switchyard.has_element(list jsonb, key bytea) returns boolean
language plpgsql immutable parallel safe cost 100 as $$
begin
  if jsonb_typeof(list) is distinct from 'array' then return false; end if;
  return exists (select from jsonb_array_elements(list) has where switchyard.whole_key(has) = key);
end $$;

-- True, and dear to the planner: whatever it believes of how many documents match, it goes by the index instead of looking
-- at all of them.
create or replace function switchyard.is_sought(path text) returns boolean
language plpgsql immutable parallel safe cost 100 as $$ begin return true; end $$;

-- The key of a field, as an index may hold it. The owner of all that a query looks at has other indexes.
create or replace function switchyard.key_sql(field text[], is_owned boolean) returns text
language sql immutable parallel safe as $$
  select format(case when is_owned then 'switchyard.own_key(d.data #> %L::text[])' else 'switchyard.key(d.data #> %L::text[])' end, field)
$$;

create or replace function switchyard.equals_sql(field text[], value jsonb, is_owned boolean) returns text
language plpgsql immutable parallel safe as $$
declare
  key   bytea := switchyard.key(value);
  parts text[] := array[format('%s = %L::bytea', switchyard.key_sql(field, is_owned), key)];
begin
  -- Null and NaN equal nothing; there are tests for them.
  if value in ('null', '{"$num": "NaN"}') then return 'false'; end if;
  if octet_length(key) = 800 then
    parts := parts || format('switchyard.whole_key(d.data #> %L::text[]) = %L::bytea', field, switchyard.whole_key(value));
  end if;
  if not is_owned and switchyard.has_one_spelling(value) then
    parts := format('d.data @> %L::jsonb', switchyard.nested(field, value)) || parts;
  end if;
  return '(' || array_to_string(parts, ' and ') || ')';
end $$;

create or replace function switchyard.contains_sql(field text[], value jsonb, is_owned boolean) returns text
language plpgsql immutable parallel safe as $$
begin
  -- Null and NaN equal nothing; there are tests for them.
  if value in ('null', '{"$num": "NaN"}') then return 'false'; end if;
  if is_owned then
    return format('switchyard.has_element(d.data #> %L::text[], %L::bytea)', field, switchyard.whole_key(value));
  end if;
  -- Of lists and maps a part would do; text, a truth or a number is contained where it is an element.
  if jsonb_typeof(value) in ('string', 'boolean', 'number') and switchyard.has_one_spelling(value) then
    return format('(d.data @> %L::jsonb and switchyard.is_sought(d.path))', switchyard.nested(field, jsonb_build_array(value)));
  end if;
  return format('(%sswitchyard.has_element(d.data #> %L::text[], %L::bytea))',
    case when switchyard.has_one_spelling(value)
         then format('d.data @> %L::jsonb and ', switchyard.nested(field, jsonb_build_array(value))) else '' end,
    field, switchyard.whole_key(value));
end $$;

-- A filter: ["all" | "any", [filter, …]], [operator, field, operand] or [test, field]. A field is an array of names,
-- or null for the document's own name, whose operands are paths.
create or replace function switchyard.filter_sql(filter jsonb, is_owned boolean) returns text
language plpgsql stable set search_path = '' as $$
declare
  op      text := filter ->> 0;
  operand jsonb := filter -> 2;
  field   text[];
  there   text;
  kind    bytea;
  parts   text[];
begin
  if op in ('all', 'any') then
    select array_agg(switchyard.filter_sql(f, is_owned)) into parts from jsonb_array_elements(filter -> 1) f;
    if parts is null then raise exception 'a group of conditions is empty' using errcode = '22023'; end if;
    return '(' || array_to_string(parts, case op when 'all' then ' and ' else ' or ' end) || ')';
  end if;

  if filter -> 1 = 'null' then
    case op
    when 'in' then return format('d.path = any (%L::text[])', switchyard.strings(operand));
    when 'not-in' then return format('d.path <> all (%L::text[])', switchyard.strings(operand));
    when '==' then return format('d.path = %L', operand #>> '{}');
    when '!=' then return format('d.path <> %L', operand #>> '{}');
    when '<', '<=', '>', '>=' then return format('d.place %s %L::bytea', op, switchyard.place(operand #>> '{}'));
    else raise exception 'unknown condition' using errcode = '22023';
    end case;
  end if;

  field := switchyard.strings(filter -> 1);
  there := format('d.data #> %L::text[]', field);
  case op
  when 'is-null' then return format('(%s = ''null'')', there);
  when 'is-not-null' then return format('(%s <> ''null'')', there);
  when 'is-nan' then return format('(%s = ''{"$num": "NaN"}'')', there);
  when 'is-not-nan' then return format('(%1$s <> ''null'' and %1$s <> ''{"$num": "NaN"}'')', there);
  when '==' then return switchyard.equals_sql(field, operand, is_owned);
  when '!=' then
    return format('(%1$s <> ''null'' and switchyard.whole_key(%1$s) <> %2$L::bytea)', there, switchyard.whole_key(operand));
  when 'in' then
    select array_agg(switchyard.equals_sql(field, v, is_owned)) into parts from jsonb_array_elements(operand) v;
    return '(' || array_to_string(parts, ' or ') || ')';
  when 'not-in' then
    if operand @> '[null]' then return 'false'; end if;
    return format('(%1$s <> ''null'' and switchyard.whole_key(%1$s) <> all (%2$L::bytea[]))', there,
      array(select switchyard.whole_key(v) from jsonb_array_elements(operand) v
            where v not in ('null', '{"$num": "NaN"}')));
  when 'array-contains' then return switchyard.contains_sql(field, operand, is_owned);
  when 'array-contains-any' then
    select array_agg(switchyard.contains_sql(field, v, is_owned)) into parts from jsonb_array_elements(operand) v;
    return '(' || array_to_string(parts, ' or ') || ')';
  when '<', '<=', '>', '>=' then
    -- Within the operand's own kind; NaN is below all numbers and in no range.
    kind := substr(switchyard.key(operand), 1, 1);
    return format('(%1$s %2$s %3$L::bytea and %1$s %4$s %5$L::bytea)',
      switchyard.key_sql(field, is_owned), op, switchyard.key(operand), case when op in ('<', '<=') then '>' else '<' end,
      case when op in ('>', '>=') then set_byte(kind, 0, get_byte(kind, 0) + 1)
           when kind = '\x14'::bytea then '\x1400000000000000000000'::bytea else kind end);
  else raise exception 'unknown condition' using errcode = '22023';
  end case;
end $$;

-- The documents from a position on, or up to one: {"values": […], "inclusive": bool}, compared as the order compares.
create or replace function switchyard.cursor_sql(keys text[], is_up boolean[], position_ jsonb, is_start boolean)
returns text language plpgsql immutable set search_path = '' as $$
declare
  count_  int := jsonb_array_length(position_ -> 'values');
  is_in   boolean := (position_ ->> 'inclusive')::boolean;
  values_ text[] := '{}';
  sign_   text;
  equal   text[] := '{}';
  parts   text[] := '{}';
begin
  if count_ not between 1 and cardinality(keys) then
    raise exception 'a cursor does not fit its order' using errcode = '22023';
  end if;
  for n in 1 .. count_ loop
    values_ := values_ || format('%L::bytea', case when keys[n] = 'd.place'
      then switchyard.place(position_ -> 'values' ->> (n - 1)) else switchyard.key(position_ -> 'values' -> (n - 1)) end);
  end loop;
  -- One comparison of rows, where the directions allow it: an index can begin there.
  if is_up[1:count_] = array_fill(is_up[1], array[count_]) then
    return format('(%s) %s%s (%s)', array_to_string(keys[1:count_], ', '),
      case when is_up[1] = is_start then '>' else '<' end, case when is_in then '=' else '' end,
      array_to_string(values_, ', '));
  end if;
  for n in 1 .. count_ loop
    sign_ := case when is_up[n] = is_start then '>' else '<' end;
    if n = count_ and is_in then sign_ := sign_ || '='; end if;
    parts := parts || ('(' || array_to_string(equal || format('%s %s %s', keys[n], sign_, values_[n]), ' and ') || ')');
    equal := equal || format('%s = %s', keys[n], values_[n]);
  end loop;
  return '(' || array_to_string(parts, ' or ') || ')';
end $$;

create or replace function switchyard.source_sql(query jsonb) returns text
language plpgsql immutable set search_path = '' as $$
begin
  if query ? 'in' then
    return format('d.collection = %L and d.collection_id = %L', query ->> 'in', substring(query ->> 'in' from '[^/]+$'));
  elsif query ? 'group' then
    return format('d.collection_id = %L', query ->> 'group') || case when query ? 'under' then
      format(' and d.place > %L::bytea and d.place < %L::bytea', switchyard.place(query ->> 'under'),
             switchyard.place(query ->> 'under') || '\xff'::bytea) else '' end;
  end if;
  raise exception 'a query names a collection or a group' using errcode = '22023';
end $$;

-- A query: {"in": path} or {"group": name, "under": path}, "filter": …, "orders": [[field, "asc" | "desc"], …] to the
-- name, "start" and "end": cursors, "offset": n and "first": n, or "last": n. Limits aside, these are its clauses.
drop function if exists switchyard.parts(jsonb);
create or replace function switchyard.clauses(
  query jsonb, is_owned boolean, out source text, out conditions text, out sorted text, out backwards text)
language plpgsql stable set search_path = '' as $$
declare
  all_  text[] := '{}';
  keys  text[] := '{}';
  is_up boolean[] := '{}';
  step  jsonb;
  key   text;
begin
  if query ? 'filter' then all_ := all_ || switchyard.filter_sql(query -> 'filter', is_owned); end if;
  for step in select jsonb_array_elements(query -> 'orders') loop
    key := 'd.place';
    if step -> 0 <> 'null' then
      key := switchyard.key_sql(switchyard.strings(step -> 0), is_owned);
      all_ := all_ || (key || ' is not null');
    end if;
    keys := keys || key;
    is_up := is_up || (step ->> 1 = 'asc');
  end loop;
  if not 'd.place' = any (keys) then
    raise exception 'an order goes on to the name' using errcode = '22023';
  end if;
  if query ? 'start' then all_ := all_ || switchyard.cursor_sql(keys, is_up, query -> 'start', true); end if;
  if query ? 'end' then all_ := all_ || switchyard.cursor_sql(keys, is_up, query -> 'end', false); end if;
  source := switchyard.source_sql(query);
  conditions := case when all_ = '{}' then 'true' else array_to_string(all_, ' and ') end;
  select string_agg(k || case when up then ' asc' else ' desc' end, ', ' order by n),
         string_agg(k || case when up then ' desc' else ' asc' end, ', ' order by n)
    into sorted, backwards from unnest(keys, is_up) with ordinality as t(k, up, n);
end $$;

-- The rows of a query that the caller sees; those of `last` come from the end backwards.
create or replace function switchyard.query_sql(query jsonb) returns text
language plpgsql stable set search_path = '' as $$
declare
  seen  record;
  part  record;
  rows_ text;
  skip  bigint := coalesce((query ->> 'offset')::bigint, 0);
begin
  select * into seen from switchyard.visible(query);
  select * into part from switchyard.clauses(query, seen.is_owned);
  rows_ := format('select d.* from %s and %s order by ', switchyard.visible_sql(query, seen), part.conditions);
  if query ? 'last' then
    return rows_ || part.backwards || format(' limit %s', (query ->> 'last')::bigint);
  end if;
  return rows_ || part.sorted || case when skip > 0 then format(' offset %s', skip) else '' end
    || case when query ? 'first' then format(' limit %s', (query ->> 'first')::bigint) else '' end;
end $$;
