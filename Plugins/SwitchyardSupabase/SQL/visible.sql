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

-- The documents of a query's collection or group that the caller sees, as a condition on rows of the documents or of the
-- deletions; and whether these are the documents whose owner the caller is. The same as switchyard.allowed, of which it keeps what
-- is open for one kind of collection. Where the rule `domain` shows users or check-ins, they are those of `people`.
create or replace function switchyard.shown(
  query jsonb, is_gone boolean default false, out is_owned boolean, out condition text, out people text[])
language plpgsql stable set search_path = '' as $$
declare
  me      text := switchyard.caller();
  place_  text := coalesce(query ->> 'in', query ->> 'group');
  kind    text := substring(place_ from '[^/]+$');
  names   text[] := string_to_array(query ->> 'in', '/');
  my      record;
  parts   text[];
begin
  is_owned := false;
  condition := 'true';
  if switchyard.is_trusted() then return; end if;
  select * into my from switchyard.standing('read');
  if kind = any (my.opened) then return; end if;
  condition := 'false';
  if me is null then return; end if;

  if kind = any (my.named) then
    condition := case when names is null then format('substr(d.path, length(d.collection) + 2) = %L', me)
                      else format('d.path = %L', place_ || '/' || me) end;
  elsif kind = any (my.domain) then
    if names[1] = 'users' and cardinality(names) > 1 then
      condition := (names[2] = me)::text;
    elsif names is not null and place_ not in ('users', 'checkIns') then
      is_owned := true;
    else
      -- The caller, and those whom the caller is a responder of.
      people := array[me] || array(select split_part(d.path, '/', 2) from switchyard.documents d
        where d.collection_id = 'contacts' and split_part(d.path, '/', 4) = me
          and d.path = 'users/' || split_part(d.path, '/', 2) || '/contacts/' || me and d.data -> 'isResponder' = 'true');
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
    end if;
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
    condition := (names[2] = me)::text;
  end if;
  if is_owned then condition := format('d.owner = %L', me); end if;
end $$;

-- The collections directly below a document, or at the root, that have a document somewhere below them. Where most documents meet
-- a condition, or an index tells who does: from one name to the next by the order of places, whatever lies between.
create or replace function public.switchyard_collections(parent text default null) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  me     text := switchyard.caller();
  access text := switchyard.allowed('read');
  depth  int := coalesce(cardinality(string_to_array(parent, '/')), 0) + 1;
  first  bytea := coalesce(switchyard.place(parent), '');
  upto   bytea := first || '\xff'::bytea;
  others text := 'false';
  people text[];
  names  text[] := '{}';
  wanted text[];
  my     record;
  each_  text;
  path_  text;
  at     bytea;
begin
  if switchyard.is_trusted() then
    wanted := array['true'];
  else
    select * into my from switchyard.standing('read');
    wanted := array(select format('d.collection_id = %L', o) from unnest(my.opened) o);
    if me is not null then
      -- One's own trees, and what other rules show.
      wanted := wanted || array(select switchyard.tree_sql(r || '/' || me) || ' and ' || access from unnest(my.roots) r)
        || array(select format('d.collection_id = %L and %s', n, access) from unnest(my.named) n);
      -- What is one's own elsewhere, and whom one is a responder of.
      if my.domain && array['users', 'checkIns'] then
        each_ := case when 'users' = any (my.domain) then 'users' else 'checkIns' end;
        select s.people into people from switchyard.shown(jsonb_build_object('in', each_)) s;
        others := format('d.path = any (%L::text[]) or (d.collection = ''checkIns'' and left(d.data ->> ''userID'', 300) = any (%L::text[]))',
          array(select 'users/' || p from unnest(people) p), array(select left(p, 300) from unnest(people) p));
      end if;
      execute format('select array_agg(distinct split_part(d.path, ''/'', $1)) from (
          select d.path, d.place, d.collection, d.collection_id, d.owner, d.data from switchyard.documents d where d.owner = %1$L
          union all select d.path, d.place, d.collection, d.collection_id, d.owner, d.data from switchyard.documents d
            where %2$s) d where %3$s and %4$s',
          me, others,
          case when parent is null then 'true' else format('d.place > %L::bytea and d.place < %L::bytea', first, upto) end, access)
        into names using depth;
      names := coalesce(names, '{}');
    end if;
  end if;
  foreach each_ in array wanted loop
    at := first;
    loop
      execute format('select d.path from switchyard.documents d where d.place > $1 and d.place < $2 and %s
                      order by d.place limit 1', each_) into path_ using at, upto;
      exit when path_ is null;
      names := names || split_part(path_, '/', depth);
      at := switchyard.place(array_to_string((string_to_array(path_, '/'))[1:depth], '/')) || '\xff'::bytea;
    end loop;
  end loop;
  return coalesce((select jsonb_agg(distinct n) from unnest(names) n), '[]');
end $$;
