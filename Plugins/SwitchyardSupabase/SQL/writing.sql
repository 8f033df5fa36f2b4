-- Writes: what they leave, and the one function that carries them out.

-- By way of text: the direct cast keeps 15 digits only.
create or replace function switchyard.from_double(number double precision) returns jsonb
language sql immutable parallel safe as $$
  select case
    when number in ('NaN', 'Infinity', '-Infinity') then jsonb_build_object('$num', number::text)
    when number = 0 and number::text = '-0' then '{"$num": "-0"}'::jsonb
    when scale(number::text::numeric) = 0 then to_jsonb(number::text::numeric::numeric(1000, 1))
    else to_jsonb(number::text::numeric)
  end
$$;

-- A sum, in order; where a double has no room for it, infinity.
create or replace function switchyard.total(numbers double precision[]) returns double precision
language plpgsql immutable strict parallel safe as $$
declare
  sum_   float8 := numbers[1];
  number float8;
begin
  foreach number in array numbers[2:] loop
    if abs(sum_) < 8e307 and abs(number) < 8e307 then
      sum_ := sum_ + number;
    else
      begin
        sum_ := sum_ + number;
      exception when numeric_value_out_of_range then
        sum_ := case when sum_ > 0 then 'Infinity' else '-Infinity' end;
      end;
    end if;
  end loop;
  return sum_;
end $$;

create or replace function switchyard.transformed(old jsonb, transform jsonb, at timestamptz) returns jsonb
language plpgsql immutable parallel safe as $$
declare
  operand jsonb := transform -> 'value';
  mine    float8 := switchyard.as_double(old);
  theirs  float8 := switchyard.as_double(operand);
  are_whole boolean := mine is not null and theirs is not null and old::text ~ '^-?\d+$' and operand::text ~ '^-?\d+$'
    and least(old::numeric, operand::numeric) >= -9223372036854775808
    and greatest(old::numeric, operand::numeric) <= 9223372036854775807;
  element jsonb;
  result  jsonb;
begin
  case transform ->> 'op'
  when 'serverTime' then
    return jsonb_build_object('$ts', switchyard.time_text(at));
  when 'increment' then
    if mine is null then return operand; end if;
    if are_whole then
      return to_jsonb(least(greatest(old::numeric + operand::numeric, -9223372036854775808), 9223372036854775807));
    end if;
    return switchyard.from_double(switchyard.total(array[mine, theirs]));
  when 'maximum', 'minimum' then
    -- NaN wins either way; of equal numbers the stored one stays.
    if mine is null then return operand; end if;
    if mine = 'NaN' then return old; end if;
    if theirs = 'NaN' then return operand; end if;
    if are_whole then
      return case when (operand::numeric > old::numeric) = (transform ->> 'op' = 'maximum')
                   and operand::numeric <> old::numeric then operand else old end;
    end if;
    return case when (theirs > mine) = (transform ->> 'op' = 'maximum') and theirs <> mine then operand else old end;
  when 'arrayUnion' then
    result := case when jsonb_typeof(old) = 'array' then old else '[]'::jsonb end;
    for element in select jsonb_array_elements(operand) loop
      if not exists (select from jsonb_array_elements(result) has where switchyard.whole_key(has) = switchyard.whole_key(element)) then
        result := result || jsonb_build_array(element);
      end if;
    end loop;
    return result;
  when 'arrayRemove' then
    if jsonb_typeof(old) is distinct from 'array' then return '[]'; end if;
    return coalesce((select jsonb_agg(has order by place) from jsonb_array_elements(old) with ordinality as a (has, place)
                     where not exists (select from jsonb_array_elements(operand) gone where switchyard.whole_key(gone) = switchyard.whole_key(has))), '[]');
  else
    raise exception 'unknown transform' using errcode = '22023';
  end case;
end $$;

-- Keeps whoever writes honest: versions and times are the database's, and a deletion leaves its trace.
create or replace function switchyard.stamp() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  -- A commit has chosen a time after all that it touches; anybody else's write takes the next that is free.
  chosen  timestamptz := nullif(current_setting('switchyard.commit_time', true), '')::timestamptz;
  earlier timestamptz;
  written timestamptz;
  version_ xid8;
begin
  perform pg_current_xact_id();
  perform switchyard.begin_writes('{}');
  select (pg_current_xact_id()::text::bigint + s.lead)::text::xid8 into version_ from switchyard.settings s;
  if tg_op = 'INSERT' then
    delete from switchyard.deletions x where x.path = new.path returning x.deleted_at into earlier;
  else
    earlier := old.updated_at;
  end if;
  written := coalesce(chosen, greatest(clock_timestamp(), switchyard.time_text(earlier)::timestamptz + interval '1 microsecond'));
  if tg_op = 'DELETE' then
    insert into switchyard.deletions (path, place, collection, collection_id, owner, version, deleted_at)
      values (old.path, old.place, old.collection, old.collection_id, old.owner, version_, written)
      on conflict (path) do update set owner = excluded.owner, version = excluded.version, deleted_at = excluded.deleted_at;
    return old;
  end if;
  if tg_op = 'INSERT' then
    new.created_at := written;
  else
    if new.path <> old.path then raise exception 'a document keeps its path' using errcode = '22023'; end if;
    new.created_at := old.created_at;
  end if;
  new.updated_at := written;
  new.version := version_;
  return new;
end $$;
drop trigger if exists documents_stamp on switchyard.documents;
create trigger documents_stamp before insert or update or delete on switchyard.documents
  for each row execute function switchyard.stamp();

-- Forgets some of the deletions and answers that are older than `settings.keep`: the oldest, and only so many at a time that
-- no call is slowed down. Commits call it now and then, often enough to keep up with what they leave, and no call waits here
-- for another. Returns how many are forgotten.
drop function if exists switchyard.forget();
create or replace function switchyard.forget(most int default 200) returns int
language plpgsql volatile set search_path = '' as $$
declare
  horizon timestamptz;
  newest  bigint;
  count_  int;
  total   int;
begin
  select clock_timestamp() - s.keep into horizon from switchyard.settings s for update skip locked;
  if horizon is null then return 0; end if;
  delete from switchyard.batches b using (
    select x.id, x.owner from switchyard.batches x where x.kept_at < horizon order by x.kept_at limit most
    for update skip locked) old where b.id = old.id and b.owner = old.owner;
  get diagnostics total = row_count;
  with gone as (
    delete from switchyard.deletions d using (
      select x.path from switchyard.deletions x where x.deleted_at < horizon order by x.deleted_at limit most
      for update skip locked) old where d.path = old.path returning d.version)
    select max(gone.version::text::bigint), count(*) into newest, count_ from gone;
  if newest is not null then
    update switchyard.settings s set forgotten = (newest + 1)::text::xid8 where s.forgotten <= newest::text::xid8;
  end if;
  return total + count_;
end $$;

-- Carries out all writes of a batch, in order, or none. A batch that took effect before is answered as it was then.
--
-- A write: {"op": "set" | "patch" | "delete" | "verify", "path": …, "data": {…}, "mask": [[name, …], …],
--           "transforms": [{"field": [name, …], "op": …, "value": …}], "exists": true | false, "updateTime": …}
-- Refusals: PT404 missing, PT409 there already, PT412 another version, 42501 not allowed, 22023 malformed, 54000 too
-- large; the detail has the write's place.
create or replace function public.switchyard_commit(batch text, writes jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  me       text := coalesce(switchyard.caller(), '');
  trusted  boolean := coalesce(switchyard.is_trusted(), false);
  my       record;
  kind     text;
  names    text[];
  is_ours  boolean;
  is_denied boolean;
  index_   int := -1;
  count_   int;
  entry    jsonb;
  step     jsonb;
  field    text[];
  value    jsonb;
  old      switchyard.documents;
  is_there boolean;
  data     jsonb;
  at       timestamptz;
  written  timestamptz;
  outcomes jsonb := '[]';
  values_  jsonb;
  answer_  jsonb;
begin
  if jsonb_typeof(writes) is distinct from 'array' or jsonb_array_length(writes) not between 1 and 500
    or octet_length(batch) <= 500 is not true then
    raise exception 'a batch has a name of up to 500 bytes and 1 to 500 writes' using errcode = '22023';
  end if;
  perform pg_advisory_xact_lock(hashtextextended(me || '/' || batch, 1));
  select b.answer into answer_ from switchyard.batches b where b.id = batch and b.owner = me;
  if found then return answer_; end if;
  perform switchyard.begin_writes(array(select w ->> 'path' from jsonb_array_elements(writes) w));
  if trusted then
    -- No rule concerns it.
    select '{}'::text[] as opened, '{}'::text[] as closed, '{}'::text[] as ruled, '{}'::text[] as named, '{}'::text[] as roots,
           '{}'::text[] as domain into my;
  else
    select * into my from switchyard.standing('write');
  end if;

  -- A transaction is known to be under way before it takes its time: see switchyard.answer.
  perform pg_current_xact_id();
  -- One time for all, after that of every document it touches.
  select greatest(clock_timestamp(), max(switchyard.time_text(t.at)::timestamptz) + interval '1 microsecond') into at from (
    select d.updated_at as at from switchyard.documents d where d.path in (select w ->> 'path' from jsonb_array_elements(writes) w)
    union all
    select g.deleted_at from switchyard.deletions g where g.path in (select w ->> 'path' from jsonb_array_elements(writes) w)) t;
  perform set_config('switchyard.commit_time', at::text, true);

  for entry in select jsonb_array_elements(writes) loop
    index_ := index_ + 1;
    -- As clients name documents; the table itself knows less about names.
    names := string_to_array(entry ->> 'path', '/');
    if (entry ->> 'path' ~ '^[^/]+/[^/]+(/[^/]+/[^/]+)*$' and octet_length(entry ->> 'path') <= 900 and cardinality(names) <= 100
        and not exists (select from unnest(names) s
                        where s in ('.', '..') or (s ~ '^__.*__$' and s !~ '^__id(0|-?[1-9][0-9]{0,18})__$'))) is not true then
      raise exception 'not the path of a document' using errcode = '22023', detail = index_;
    end if;
    select d.* into old from switchyard.documents d where d.path = entry ->> 'path' for update;
    is_there := found;
    kind := substring(entry ->> 'path' from '([^/]+)/[^/]+$');
    -- By the rule `domain`: what is there decides now, and what is left there below.
    is_ours := not trusted and kind = any (my.domain);
    if is_ours then
      is_denied := switchyard.domain_touches(entry ->> 'op', entry ->> 'path', case when is_there then old.data end, old.owner,
                                             switchyard.caller()) is not true;
    else
      is_denied := not trusted and kind <> all (my.opened) and (kind = any (my.closed) or switchyard.holder(
        entry ->> 'path', regexp_replace(entry ->> 'path', '/[^/]+$', ''), kind,
        case when is_there then old.owner else switchyard.caller() end, my.ruled, my.named, my.roots)
        is distinct from switchyard.caller() or switchyard.caller() is null);
    end if;
    if is_denied then
      raise exception 'not allowed' using errcode = '42501', detail = index_;
    elsif entry ->> 'exists' = 'false' and is_there then
      raise exception 'the document exists' using errcode = 'PT409', detail = index_;
    elsif entry ->> 'exists' = 'true' and not is_there then
      raise exception 'the document does not exist' using errcode = 'PT404', detail = index_;
    elsif entry ? 'updateTime' and (not is_there or switchyard.time_text(old.updated_at)::timestamptz
        <> (entry ->> 'updateTime')::timestamptz) then
      raise exception 'the document has changed' using errcode = 'PT412', detail = index_;
    end if;

    -- What is there already may be malformed: no reader minds. The names of fields may be any.
    if entry::text like '%"$%' and (
      exists (select from jsonb_each(case when jsonb_typeof(entry -> 'data') = 'object' then entry -> 'data' else '{}' end) m
              where entry ->> 'op' = 'set' and switchyard.is_malformed(m.value))
      or exists (select from jsonb_array_elements(entry -> 'mask') m
                 where entry ->> 'op' = 'patch' and switchyard.is_malformed((entry -> 'data') #> switchyard.strings(m)))
      or exists (select from jsonb_array_elements(entry -> 'transforms') t where switchyard.is_malformed(t -> 'value'))) then
      raise exception 'a value is malformed: a map with one name that begins with $ stands in {"$map": …}'
        using errcode = '22023', detail = index_;
    end if;
    values_ := '[]';
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
        field := switchyard.strings(step);
        data := switchyard.put(data, field, (entry -> 'data') #> field);
      end loop;
    else raise exception 'unknown write' using errcode = '22023', detail = index_;
    end case;
    for step in select jsonb_array_elements(coalesce(entry -> 'transforms', '[]')) loop
      field := switchyard.strings(step -> 'field');
      value := switchyard.transformed(data #> field, step, at);
      data := switchyard.put(data, field, value);
      values_ := values_ || jsonb_build_array(value);
    end loop;
    if is_ours then
      if not switchyard.domain_leaves(entry ->> 'path', case when is_there then old.data end, data, switchyard.caller()) then
        raise exception 'not allowed' using errcode = '42501', detail = index_;
      end if;
    end if;
    if octet_length(data::text) > 2097152 then
      raise exception 'the document is too large' using errcode = '54000', detail = index_;
    elsif jsonb_path_exists(data, 'strict $.**{101 to last}') then
      -- Deeper than readers of JSON go.
      raise exception 'the document is nested too deeply' using errcode = '22023', detail = index_;
    elsif jsonb_path_exists(data, '$.** ? (@.type() == "number" && (@ > 1.7976931348623157e308 || @ < -1.7976931348623157e308))') then
      raise exception 'a number has no room in a double' using errcode = '22023', detail = index_;
    end if;

    if is_there then
      -- Its row is locked. An insertion that meets a row runs the triggers of both.
      value := data;
      update switchyard.documents d set data = value where d.path = entry ->> 'path' returning d.updated_at into written;
    else
      insert into switchyard.documents as d (path, data, owner, created_at, updated_at)
        values (entry ->> 'path', data, switchyard.caller(), at, at)
        on conflict (path) do update set data = excluded.data
        returning d.updated_at into written;
    end if;
    outcomes := outcomes || jsonb_build_object('updateTime', switchyard.time_text(written), 'transforms', values_);
  end loop;
  perform set_config('switchyard.commit_time', '', true);
  if not trusted and my.domain && array['contacts', 'contactRequests'] then
    -- Nobody asks, or changes their place on the list of, somebody who is not on theirs.
    select min(t.n) - 1 into index_
      from jsonb_array_elements(writes) with ordinality t (w, n), string_to_array(t.w ->> 'path', '/') path_
      where t.w ->> 'op' in ('set', 'patch') and path_[1] = 'users' and path_[2] <> me and cardinality(path_) = 4
        and path_[3] in ('contacts', 'contactRequests') and path_[3] = any (my.domain)
        and not exists (select from switchyard.documents d where d.path = 'users/' || me || '/contacts/' || path_[2]);
    if index_ is not null then raise exception 'not allowed' using errcode = '42501', detail = index_; end if;
  end if;

  answer_ := jsonb_build_object('commitTime', switchyard.time_text(at), 'results', outcomes);
  insert into switchyard.batches (id, owner, answer) values (batch, me, answer_);
  -- As much as a commit of so many writes leaves, on average: now and then, or each time.
  count_ := jsonb_array_length(writes) + 1;
  if random() < 0.02 * count_ then perform switchyard.forget(greatest(200, 2 * count_)); end if;
  return answer_;
end $$;

-- What became of a batch; null when it never took effect.
create or replace function public.switchyard_outcome(batch text) returns jsonb
language sql stable security definer set search_path = '' as $$
  select b.answer from switchyard.batches b where b.id = batch and b.owner = coalesce(switchyard.caller(), '')
$$;

-- Deletes a document and what is below it, as far as the caller may, at most `most` documents at a time, from the end.
-- Answers how many went; 0 when there is nothing left to delete. What somebody else has put there stays; only where it is the
-- document itself it is a refusal.
create or replace function public.switchyard_delete_tree(path text, most int default 500) returns int
language plpgsql volatile security definer set search_path = '' as $$
declare
  me      text := switchyard.caller();
  mine    text := switchyard.allowed('write');
  names   text[] := string_to_array(switchyard_delete_tree.path, '/');
  kind    text := names[cardinality(names) - 1];
  my      record;
  by_path boolean := coalesce(switchyard.is_trusted(), false);
  paths   text[];
  count_  int;
begin
  if not by_path then
    -- Whether the caller may delete a document of that path whatever is there, or must not: null where that depends on its owner.
    -- An answer by the path does not reveal what there is.
    select * into my from switchyard.standing('write');
    by_path := case
      when kind = any (my.opened) then true
      when me is null then false
      when kind = any (my.named) then names[cardinality(names)] = me
      when kind = any (my.domain) then
        case when names[1] = 'users' then names[2] = me or (names[3] in ('contacts', 'contactRequests') and cardinality(names) = 4 and names[4] = me) end
      when kind = any (my.closed) then false
      when kind = any (my.ruled) then null
      when names[1] = any (my.roots) then names[2] = me end;
  end if;
  if by_path is null then
    execute format('select count(*) from switchyard.documents d where d.path = $1 and (%s) is not true', mine)
      into count_ using switchyard_delete_tree.path;
  end if;
  if by_path is false or count_ > 0 then raise exception 'not allowed' using errcode = '42501'; end if;
  loop
    execute format('select array_agg(x.path) from (
        select d.path from switchyard.documents d where %s and %s order by d.place desc limit $1) x',
        switchyard.tree_sql(switchyard_delete_tree.path), mine)
      into paths using most;
    if paths is null then return 0; end if;
    -- As commits lock them. Others may have been faster until now.
    perform switchyard.begin_writes(paths);
    execute format('with gone as (delete from switchyard.documents d where d.path = any ($1) and %s returning d.path)
      select count(*) from gone', mine)
      into count_ using paths;
    exit when count_ > 0;
  end loop;
  if random() < 0.02 * (count_ + 1) then perform switchyard.forget(greatest(200, 2 * (count_ + 1))); end if;
  return count_;
end $$;
