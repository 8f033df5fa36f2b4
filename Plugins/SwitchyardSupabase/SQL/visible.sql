-- Which documents of a collection a caller sees, decided before the database looks at anything else.
--
-- A caller chooses a query's conditions; how long they take tells something about the documents that they are compared with.
-- So no condition of a caller meets a document that the caller may not see: the rule either comes down to constants, or it
-- finds the caller's documents first. A test asks the planner.

-- Whether a document is the caller's. By its cost the planner has it first of all that it compares with a row.
create or replace function switchyard.permits(owner text, caller text) returns boolean
language plpgsql immutable parallel safe cost 0.0001 set search_path = '' as $$ begin return owner = caller; end $$;

-- What an index holds for the owners of documents: see switchyard.create_index. A name of its own keeps a user's conditions
-- out of indexes that begin with what others have written.
create or replace function switchyard.own_key(value jsonb) returns bytea
language sql immutable strict parallel safe as $$ select substr(switchyard.whole_key(value), 1, 800) $$;

-- The documents at and below a path, as a condition.
create or replace function switchyard.tree_sql(path text) returns text
language sql immutable parallel safe set search_path = '' as $$
  select format('(d.place >= %L::bytea and d.place < %L::bytea)', switchyard.place(path), switchyard.place(path) || '\xff'::bytea)
$$;

-- The documents of a query's collection or group that the caller sees: all of them, those whose owner the caller is, or those
-- that meet a condition. The same as switchyard.allowed, of which it keeps what is open for one kind of collection.
create or replace function switchyard.visible(
  query jsonb, is_gone boolean default false, out is_all boolean, out is_owned boolean, out condition text)
language plpgsql stable set search_path = '' as $$
declare
  me      text := switchyard.caller();
  place_  text := coalesce(query ->> 'in', query ->> 'group');
  kind    text := substring(place_ from '[^/]+$');
  names   text[] := string_to_array(query ->> 'in', '/');
  my      record;
  people  text[];
  parts   text[];
begin
  is_all := switchyard.is_trusted();
  is_owned := false;
  condition := 'false';
  if is_all then return; end if;
  select * into my from switchyard.standing('read');
  is_all := kind = any (my.opened);
  if is_all or me is null then return; end if;

  if kind = any (my.named) then
    condition := case when names is null then format('substr(d.path, length(d.collection) + 2) = %L', me)
                      else format('d.path = %L', place_ || '/' || me) end;
  elsif kind = any (my.domain) then
    if names[1] = 'users' and cardinality(names) > 1 then
      is_all := names[2] = me;
      return;
    end if;
    if names is not null and place_ not in ('users', 'checkIns') then
      is_owned := true;
      return;
    end if;
    people := switchyard.people_seen();
    if kind = 'users' then
      parts := parts || format('d.path = any (%L::text[])', array(select 'users/' || p from unnest(people) p));
    elsif kind = 'checkIns' then
      parts := parts || case when is_gone
        then format('(d.collection = ''checkIns'' and d.owner = any (%L::text[]))', people)
        else format('(d.collection = ''checkIns'' and left(d.data ->> ''userID'', 300) = any (%L::text[]) and d.data ->> ''userID'' = any (%L::text[]))',
                    array(select left(p, 300) from unnest(people) p), people) end;
    end if;
    if names is null then
      parts := parts || switchyard.tree_sql('users/' || me)
        || format('(d.owner = %L and split_part(d.path, ''/'', 1) <> ''users'' and d.collection <> ''checkIns'')', me);
    end if;
    condition := '(' || array_to_string(parts, ' or ') || ')';
  elsif kind = any (my.closed) then
    return;
  elsif kind = any (my.ruled) then
    is_owned := true;
  elsif names is null then
    select array_agg(switchyard.tree_sql(r || '/' || me)) into parts from unnest(my.roots) r;
    condition := '(' || array_to_string(
      parts || format('(d.owner = %L and split_part(d.path, ''/'', 1) <> all (%L::text[]))', me, my.roots), ' or ') || ')';
  elsif names[1] <> all (my.roots) then
    is_owned := true;
  elsif cardinality(names) = 1 then
    condition := format('d.path = %L', place_ || '/' || me);
  else
    is_all := names[2] = me;
  end if;
end $$;

-- What the caller sees of a collection or group, as the source of a query. What a condition has to find is found in a select of
-- its own: the planner moves nothing into one that has an offset.
create or replace function switchyard.visible_sql(query jsonb, seen record) returns text
language plpgsql stable set search_path = '' as $$
declare
  source text := switchyard.source_sql(query);
begin
  if seen.is_all then return format('switchyard.documents d where %s', source); end if;
  if seen.is_owned then
    return format('switchyard.documents d where switchyard.permits(d.owner, %1$L) and d.owner = %1$L and %2$s%3$s', switchyard.caller(),
      source, case when query ? 'in' then ' and ' || switchyard.tree_sql(query ->> 'in') else '' end);
  end if;
  return format('(select d.* from switchyard.documents d where %s and %s offset 0) d where true', source, seen.condition);
end $$;

-- The same as a condition on rows of the documents or of the deletions, for statements without conditions of the caller's.
create or replace function switchyard.visible_condition(query jsonb, is_gone boolean default false) returns text
language plpgsql stable set search_path = '' as $$
declare
  seen record;
begin
  select * into seen from switchyard.visible(query, is_gone);
  return case when seen.is_all then 'true' when seen.is_owned then format('d.owner = %L', switchyard.caller())
              else seen.condition end;
end $$;

-- Names directly below a document, or at the root, of the collections with a document that meets the condition: from one to the
-- next by the order of places, whatever lies between. The condition is one that most documents meet, or an index tells who does.
create or replace function switchyard.names_below(parent text, condition text) returns text[]
language plpgsql stable set search_path = '' as $$
declare
  at     bytea := coalesce(switchyard.place(parent), '');
  upto   bytea := at || '\xff'::bytea;
  depth  int := coalesce(cardinality(string_to_array(parent, '/')), 0) + 1;
  path_  text;
  names  text[] := '{}';
begin
  loop
    execute format('select d.path from switchyard.documents d where d.place > $1 and d.place < $2 and %s order by d.place limit 1', condition)
      into path_ using at, upto;
    if path_ is null then return names; end if;
    names := names || split_part(path_, '/', depth);
    at := switchyard.place(array_to_string((string_to_array(path_, '/'))[1:depth], '/')) || '\xff'::bytea;
  end loop;
end $$;

-- The collections directly below a document, or at the root, that have a document somewhere below them.
create or replace function public.switchyard_collections(parent text default null) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  me      text := switchyard.caller();
  access  text := switchyard.allowed('read');
  shown   text := 'false';
  people  text[];
  names   text[] := '{}';
  more    text[];
  my      record;
  each_   text;
begin
  if switchyard.is_trusted() then
    names := switchyard.names_below(parent, 'true');
  else
    select * into my from switchyard.standing('read');
    foreach each_ in array my.opened loop
      names := names || switchyard.names_below(parent, format('d.collection_id = %L', each_));
    end loop;
    if me is not null then
      -- One's own trees; what is one's own elsewhere; and what other rules show.
      foreach each_ in array my.roots loop
        names := names || switchyard.names_below(parent, switchyard.tree_sql(each_ || '/' || me) || ' and ' || access);
      end loop;
      foreach each_ in array my.named loop
        names := names || switchyard.names_below(parent, format('d.collection_id = %L and %s', each_, access));
      end loop;
      if 'users' = any (my.domain) or 'checkIns' = any (my.domain) then
        people := switchyard.people_seen();
        shown := format('d.path = any (%L::text[]) or (d.collection = ''checkIns'' and left(d.data ->> ''userID'', 300) = any (%L::text[]))',
          array(select 'users/' || p from unnest(people) p), array(select left(p, 300) from unnest(people) p));
      end if;
      execute format('select array_agg(distinct split_part(d.path, ''/'', $1)) from (
          select d.path, d.place, d.collection, d.collection_id, d.owner, d.data from switchyard.documents d where d.owner = %1$L
          union all select d.path, d.place, d.collection, d.collection_id, d.owner, d.data from switchyard.documents d
            where %2$s) d where %3$s and %4$s',
          me, shown,
          case when parent is null then 'true' else format('d.place > %L::bytea and d.place < %L::bytea',
            switchyard.place(parent), switchyard.place(parent) || '\xff'::bytea) end, access)
        into more using coalesce(cardinality(string_to_array(parent, '/')), 0) + 1;
      names := names || coalesce(more, '{}');
    end if;
  end if;
  return coalesce((select jsonb_agg(distinct n) from unnest(names) n), '[]');
end $$;
