-- Since version 9: the rule `domain`, for the collections in which the clients for users, contacts, check-ins and notifications
-- keep what they keep: `users`, `contacts` and `notifications` below its documents, and `checkIns`.
--
-- Each user owns users/{id} and what is below it, and the check-ins with their ID. Whoever wants to be on another user's list
-- leaves a request there, users/{other}/contactRequests/{own ID}, and has the other on their own list when the commit ends; the
-- owner of the list accepts it (since version 10). Contacts may bring their own name and addresses on a list up to date, and
-- leave it. Responders, whom only the owner of a list makes, see the check-ins and the profile. Contacts can create
-- notifications for a user, and cannot read them afterwards. Users in users/{id}/blockedContacts can do none of this.

-- What earlier versions had.
do $$ begin
  if to_regproc('switchyard.is_listed') is not null then
    drop function if exists switchyard.is_contact(text, text, boolean), switchyard.is_blocked(text, text);
  end if;
end $$;

-- Whose a document is: the person's in whose tree it lies, the one's whom a check-in is about; elsewhere whoever made it. Of
-- what is gone there are no data: a check-in was made by its owner.
create or replace function switchyard.domain_holder(names text[], data jsonb, owner text) returns text
language sql immutable parallel safe as $$
  select case when names[1] = 'users' then names[2]
              when names[1] = 'checkIns' and cardinality(names) = 2 and data is not null then data ->> 'userID'
              else owner end
$$;

-- Whether one user is on a list of another's: `contacts`, `responders` among these, or `blockedContacts`.
create or replace function switchyard.is_listed(person text, list text, other text) returns boolean
language plpgsql stable security definer set search_path = '' as $$
begin
  return exists (select from switchyard.documents d
    where d.path = 'users/' || person || '/' || case list when 'responders' then 'contacts' else list end || '/' || other
      and (list <> 'responders' or d.data -> 'isResponder' = 'true'));
end $$;

create or replace function switchyard.domain_reads(path text, data jsonb, owner text, caller text) returns boolean
language plpgsql stable security definer set search_path = '' as $$
declare
  names  text[] := string_to_array(path, '/');
  holder text := switchyard.domain_holder(names, data, owner);
begin
  if caller is null or holder is null then return false; end if;
  return holder = caller or (names[1] in ('users', 'checkIns') and cardinality(names) = 2
                             and switchyard.is_listed(holder, 'responders', caller));
end $$;

-- Whether the caller may delete it: it is theirs, or their own place on somebody's list, or their request for one.
create or replace function switchyard.domain_removes(path text, data jsonb, owner text, caller text) returns boolean
language plpgsql immutable parallel safe set search_path = '' as $$
declare
  names text[] := string_to_array(path, '/');
begin
  if caller is null then return false; end if;
  return coalesce(switchyard.domain_holder(names, data, owner) = caller, false)
    or (names[1] = 'users' and names[3] in ('contacts', 'contactRequests') and cardinality(names) = 4 and names[4] = caller);
end $$;

-- Whether the caller may write there at all, whatever it is. `old` is null where nothing is yet.
create or replace function switchyard.domain_touches(op text, path text, old jsonb, owner text, caller text) returns boolean
language plpgsql stable security definer set search_path = '' as $$
declare
  names text[] := string_to_array(path, '/');
begin
  if caller is null then return false; end if;
  if names[1] = 'users' and names[2] <> caller then
    if cardinality(names) <> 4 then return false; end if;
    if op = 'delete' then return names[3] in ('contacts', 'contactRequests') and names[4] = caller; end if;
    return op in ('set', 'patch') and not switchyard.is_listed(names[2], 'blockedContacts', caller)
      and ((names[3] = 'contacts' and names[4] = caller and old is not null)
        or (names[3] = 'contactRequests' and names[4] = caller)
        or (names[3] = 'notifications' and old is null and switchyard.is_listed(names[2], 'contacts', caller)));
  end if;
  return old is null or coalesce(switchyard.domain_holder(names, old, owner) = caller, false);
end $$;

-- Whether the fields are known ones of the expected types: texts up to their lengths, and values of these kinds.
create or replace function switchyard.has_fields(data jsonb, texts jsonb, flags text[], times text[]) returns boolean
language sql immutable parallel safe set search_path = '' as $$
  select not exists (select from jsonb_each(data) f where not case
    when texts ? f.key then jsonb_typeof(f.value) = 'string' and length(f.value #>> '{}') <= (texts ->> f.key)::int
    when f.key = any (flags) then jsonb_typeof(f.value) = 'boolean'
    when f.key = any (times) then coalesce(switchyard.word(f.value) = '$ts', false)
    else false end)
$$;

-- Whether the caller may leave it like this.
create or replace function switchyard.domain_leaves(path text, old jsonb, new jsonb, caller text) returns boolean
language plpgsql immutable parallel safe set search_path = '' as $$
declare
  names text[] := string_to_array(path, '/');
begin
  if names[1] = 'checkIns' and cardinality(names) = 2 then
    return coalesce(new -> 'userID' = to_jsonb(caller), false);
  elsif names[1] <> 'users' or names[2] = caller or cardinality(names) <> 4 then
    return true;
  end if;
  case names[3]
  when 'contacts' then
    -- What contacts change of their own entry: who they are, and that they are no responder any more.
    return switchyard.has_fields(
      (select coalesce(jsonb_object_agg(n.key, n.value), '{}') from jsonb_each(new) n
        where n.value is distinct from old -> n.key and (n.key <> 'isResponder' or n.value <> 'false')),
      '{"name": 1000, "email": 1000, "phoneNumber": 1000}', '{}', '{}')
      and not exists (select from jsonb_object_keys(old) k where not new ? k and k not in ('name', 'email', 'phoneNumber', 'isResponder'));
  when 'contactRequests' then
    return coalesce(new -> 'isResponder' = 'false', true) and switchyard.has_fields(
      new, '{"name": 1000, "email": 1000, "phoneNumber": 1000, "note": 10000}', '{isResponder,isDependent}', '{sentAt}');
  when 'notifications' then
    return switchyard.has_fields(case when new -> 'kind' = 'null' then new - 'kind' else new end,
      '{"title": 1000, "body": 10000, "kind": 1000}', '{isRead,isDeleted}', '{sentAt}');
  else null;
  end case;
  return true;
end $$;

-- Whether the caller asks, or changes their place on the list of, somebody who is not on theirs.
create or replace function switchyard.is_one_sided(path text, caller text) returns boolean
language plpgsql stable security definer set search_path = '' as $$
declare
  names text[] := string_to_array(path, '/');
begin
  return names[1] = 'users' and names[2] <> caller and names[3] in ('contacts', 'contactRequests') and cardinality(names) = 4
    and not switchyard.is_listed(caller, 'contacts', names[2]);
end $$;

-- Whether the caller may have come to see more or less by the rule since a transaction, for their place on somebody's list
-- was written.
create or replace function switchyard.has_moved(since xid8, kind text) returns boolean
language plpgsql stable security definer set search_path = '' as $$
begin
  if kind is null or kind not in ('users', 'checkIns')
    or not exists (select from switchyard.rules r where r.collection_id = kind and r.read = 'domain') then return false; end if;
  return exists (select from switchyard.documents d where d.collection_id = 'contacts' and d.version >= since
                   and split_part(d.path, '/', 1) = 'users' and split_part(d.path, '/', 4) = switchyard.caller())
      or exists (select from switchyard.deletions d where d.collection_id = 'contacts' and d.version >= since
                   and split_part(d.path, '/', 1) = 'users' and split_part(d.path, '/', 4) = switchyard.caller());
end $$;

-- The caller, and those whom the caller is a responder of.
create or replace function switchyard.people_seen() returns text[]
language sql stable security definer set search_path = '' as $$
  select array[switchyard.caller()] || coalesce(array_agg(split_part(d.path, '/', 2)), '{}') from switchyard.documents d
    where d.collection_id = 'contacts' and split_part(d.path, '/', 4) = switchyard.caller()
      and d.path = 'users/' || split_part(d.path, '/', 2) || '/contacts/' || switchyard.caller()
      and d.data -> 'isResponder' = 'true'
$$;
