-- Queries as SQL text with constants in it: what an index can answer, it answers.

-- Whether an array has an element with the key. Without a key it is true, for what an index has found already, and as dear to
-- the planner: whatever it believes of how many documents match, it goes by the index instead of looking at all of them.
create or replace function switchyard.has_element(list jsonb, key bytea) returns boolean
language plpgsql immutable parallel safe cost 100 as $$
begin
  if key is null then return true; end if;
  if jsonb_typeof(list) is distinct from 'array' then return false; end if;
  return exists (select from jsonb_array_elements(list) has where switchyard.whole_key(has) = key);
end $$;

-- A filter: ["all" | "any", [filter, …]], [operator, field, operand] or [test, field]. A field is an array of names,
-- or null for the document's own name, whose operands are paths. The owner of all that a query looks at has indexes of their own.
create or replace function switchyard.filter_sql(filter jsonb, is_owned boolean) returns text
language plpgsql stable set search_path = '' as $$
declare
  op      text := filter ->> 0;
  operand jsonb := filter -> 2;
  field   text[];
  there   text;
  indexed text;
  key     bytea;
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

  if op in ('in', 'array-contains-any') then
    return switchyard.filter_sql(jsonb_build_array('any', (
      select jsonb_agg(jsonb_build_array(case op when 'in' then '==' else 'array-contains' end, filter -> 1, v))
      from jsonb_array_elements(operand) v)), is_owned);
  end if;

  field := switchyard.strings(filter -> 1);
  there := format('d.data #> %L::text[]', field);
  indexed := format('switchyard.%I(%s)', case when is_owned then 'own_key' else 'key' end, there);
  key := switchyard.whole_key(operand);
  case op
  when 'is-null' then return format('(%s = ''null'')', there);
  when 'is-not-null' then return format('(%s <> ''null'')', there);
  when 'is-nan' then return format('(%s = ''{"$num": "NaN"}'')', there);
  when 'is-not-nan' then return format('(%1$s <> ''null'' and %1$s <> ''{"$num": "NaN"}'')', there);
  when '==', 'array-contains' then
    -- Null and NaN equal nothing; there are tests for them.
    if operand in ('null', '{"$num": "NaN"}') then return 'false'; end if;
    -- What has one spelling is found by its JSON, fractions of numbers aside: zero has two.
    if not is_owned and not jsonb_path_exists(operand, '$.** ? (@ == 0 || @ == "-0")') then
      parts := array[format('d.data @> %L::jsonb',
        switchyard.put(null, field, case op when '==' then operand else jsonb_build_array(operand) end))];
    end if;
    if op = '==' then
      parts := parts || format('%s = %L::bytea', indexed, switchyard.key(operand));
      if length(key) >= 800 then parts := parts || format('switchyard.whole_key(%s) = %L::bytea', there, key); end if;
    elsif parts is not null and jsonb_typeof(operand) in ('string', 'boolean', 'number') then
      -- Of lists and maps a part would do; text, a truth or a number is contained where it is an element.
      parts := parts || 'switchyard.has_element(d.data, null)'::text;
    else
      parts := parts || format('switchyard.has_element(%s, %L::bytea)', there, key);
    end if;
    return '(' || array_to_string(parts, ' and ') || ')';
  when '!=' then
    return format('(%1$s <> ''null'' and switchyard.whole_key(%1$s) <> %2$L::bytea)', there, key);
  when 'not-in' then
    if operand @> '[null]' then return 'false'; end if;
    return format('(%1$s <> ''null'' and switchyard.whole_key(%1$s) <> all (%2$L::bytea[]))', there,
      array(select switchyard.whole_key(v) from jsonb_array_elements(operand) v
            where v not in ('null', '{"$num": "NaN"}')));
  when '<', '<=', '>', '>=' then
    -- Within the operand's own kind; NaN is below all numbers and in no range.
    kind := substr(key, 1, 1);
    return format('(%1$s %2$s %3$L::bytea and %1$s %4$s %5$L::bytea)',
      indexed, op, switchyard.key(operand), case when op in ('<', '<=') then '>' else '<' end,
      case when op in ('>', '>=') then set_byte(kind, 0, get_byte(kind, 0) + 1)
           when kind = '\x14'::bytea then '\x1400000000000000000000'::bytea else kind end);
  else raise exception 'unknown condition' using errcode = '22023';
  end case;
end $$;

-- A query: {"in": path} or {"group": name, "under": path}, "filter": …, "orders": [[field, "asc" | "desc"], …] to the
-- name, "start" and "end": {"values": […], "inclusive": bool}, compared as the order compares, "offset": n and "first": n, or
-- "last": n. Limits aside, these are its clauses.
drop function if exists switchyard.parts(jsonb);
create or replace function switchyard.clauses(
  query jsonb, is_owned boolean, out source text, out conditions text, out sorted text, out backwards text)
language plpgsql stable set search_path = '' as $$
declare
  all_    text[] := '{}';
  keys    text[] := '{}';
  is_up   boolean[] := '{}';
  step    jsonb;
  key     text;
  edge    record;
  count_  int;
  values_ text[];
  sign_   text;
  equal   text[];
  parts   text[];
begin
  if query ? 'in' then
    source := format('d.collection = %L and d.collection_id = %L', query ->> 'in', substring(query ->> 'in' from '[^/]+$'));
  elsif query ? 'group' then
    source := format('d.collection_id = %L', query ->> 'group') || case when query ? 'under' then
      format(' and d.place > %L::bytea and d.place < %L::bytea', switchyard.place(query ->> 'under'),
             switchyard.place(query ->> 'under') || '\xff'::bytea) else '' end;
  else
    raise exception 'a query names a collection or a group' using errcode = '22023';
  end if;
  if query ? 'filter' then all_ := all_ || switchyard.filter_sql(query -> 'filter', is_owned); end if;
  for step in select jsonb_array_elements(query -> 'orders') loop
    key := 'd.place';
    if step -> 0 <> 'null' then
      key := format('switchyard.%I(d.data #> %L::text[])', case when is_owned then 'own_key' else 'key' end,
                    switchyard.strings(step -> 0));
      all_ := all_ || (key || ' is not null');
    end if;
    keys := keys || key;
    is_up := is_up || (step ->> 1 = 'asc');
  end loop;
  if not 'd.place' = any (keys) then
    raise exception 'an order goes on to the name' using errcode = '22023';
  end if;

  -- The documents from a position on, or up to one.
  for edge in select e.name, query -> e.name as position_, query -> e.name ->> 'inclusive' = 'true' as is_in
                from unnest(array['start', 'end']) e (name) where query ? e.name loop
    count_ := jsonb_array_length(edge.position_ -> 'values');
    if count_ not between 1 and cardinality(keys) then
      raise exception 'a cursor does not fit its order' using errcode = '22023';
    end if;
    values_ := '{}';
    for n in 1 .. count_ loop
      values_ := values_ || format('%L::bytea', case when keys[n] = 'd.place'
        then switchyard.place(edge.position_ -> 'values' ->> (n - 1)) else switchyard.key(edge.position_ -> 'values' -> (n - 1)) end);
    end loop;
    if is_up[1:count_] = array_fill(is_up[1], array[count_]) then
      -- One comparison of rows, where the directions allow it: an index can begin there.
      sign_ := case when is_up[1] = (edge.name = 'start') then '>' else '<' end || case when edge.is_in then '=' else '' end;
      all_ := all_ || format('(%s) %s (%s)', array_to_string(keys[1:count_], ', '), sign_, array_to_string(values_, ', '));
      continue;
    end if;
    equal := '{}';
    parts := '{}';
    for n in 1 .. count_ loop
      sign_ := case when is_up[n] = (edge.name = 'start') then '>' else '<' end
        || case when edge.is_in and n = count_ then '=' else '' end;
      parts := parts || ('(' || array_to_string(equal || format('%s %s %s', keys[n], sign_, values_[n]), ' and ') || ')');
      equal := equal || format('%s = %s', keys[n], values_[n]);
    end loop;
    all_ := all_ || ('(' || array_to_string(parts, ' or ') || ')');
  end loop;

  conditions := case when all_ = '{}' then 'true' else array_to_string(all_, ' and ') end;
  select string_agg(k || case when up then ' asc' else ' desc' end, ', ' order by n),
         string_agg(k || case when up then ' desc' else ' asc' end, ', ' order by n)
    into sorted, backwards from unnest(keys, is_up) with ordinality as t(k, up, n);
end $$;

-- The rows of a query that the caller sees; those of `last` come from the end backwards. What a condition has to find is found in
-- a select of its own: the planner moves nothing into one that has an offset.
create or replace function switchyard.query_sql(query jsonb, is_ordered boolean) returns text
language plpgsql stable set search_path = '' as $$
declare
  seen record;
  part record;
begin
  select * into seen from switchyard.shown(query);
  select * into part from switchyard.clauses(query, seen.is_owned);
  return 'select d.* from '
    || case when seen.condition = 'true' then format('switchyard.documents d where %s', part.source)
            when seen.is_owned then format('switchyard.documents d where switchyard.permits(d.owner, %L) and %s and %s%s',
              switchyard.caller(), seen.condition, part.source,
              case when query ? 'in' then ' and ' || switchyard.tree_sql(query ->> 'in') else '' end)
            else format('(select d.* from switchyard.documents d where %s and %s offset 0) d where true', part.source,
                        seen.condition) end
    || ' and ' || part.conditions
    || case when query ? 'last' then ' order by ' || part.backwards
            when is_ordered or query ?| array['first', 'offset'] then ' order by ' || part.sorted else '' end
    || case when query ? 'last' then format(' limit %s', (query ->> 'last')::bigint)
            when query ? 'first' then format(' limit %s', (query ->> 'first')::bigint) else '' end
    || case when not query ? 'last' and (query ->> 'offset')::bigint > 0
            then format(' offset %s', (query ->> 'offset')::bigint) else '' end;
end $$;
