-- Since version 9: the rule `domain`, for the collections in which the clients for users, contacts, check-ins and notifications
-- keep what they keep: `users`, `contacts` and `notifications` below its documents, and `checkIns`.
--
-- Each user owns users/{id} and what is below it, and the check-ins with their ID. Whoever wants to be on another user's list
-- leaves a request there, users/{other}/contactRequests/{own ID}, and has the other on their own list when the commit ends; the
-- owner of the list accepts it (since version 10). Contacts may bring their own name and addresses on a list up to date, and
-- leave it. Responders, whom only the owner of a list makes, see the check-ins and the profile. Contacts can create
-- notifications for a user, and cannot read them afterwards. Users in users/{id}/blockedContacts can do none of this.

-- Whether the caller may read it: it is in their tree, a check-in about them, or made by them elsewhere; or it is the profile or a
-- check-in of somebody whose responder they are. Of what is gone there are no data: a check-in was made by its owner.
create or replace function switchyard.domain_reads(path text, data jsonb, owner text, caller text) returns boolean
language plpgsql stable security definer set search_path = '' as $$
declare
  names  text[] := string_to_array(path, '/');
  holder text := case when names[1] = 'users' then names[2]
                      when names[1] = 'checkIns' and cardinality(names) = 2 and data is not null then data ->> 'userID' else owner end;
begin
  if caller is null or holder is null then return false; end if;
  return holder = caller or (names[1] in ('users', 'checkIns') and cardinality(names) = 2 and exists (
    select from switchyard.documents d
    where d.path = 'users/' || holder || '/contacts/' || caller and d.data -> 'isResponder' = 'true'));
end $$;

-- Whether the caller may write there at all, whatever it is. `old` is null where nothing is yet.
create or replace function switchyard.domain_touches(op text, path text, old jsonb, owner text, caller text) returns boolean
language plpgsql stable set search_path = '' as $$
declare
  names text[] := string_to_array(path, '/');
begin
  if caller is null then return false; end if;
  if names[1] <> 'users' then
    return old is null or coalesce(
      case when names[1] = 'checkIns' and cardinality(names) = 2 then old ->> 'userID' else owner end = caller, false);
  end if;
  if names[2] = caller then return true; end if;
  if cardinality(names) <> 4 then return false; end if;
  if op = 'delete' then return names[3] in ('contacts', 'contactRequests') and names[4] = caller; end if;
  return op in ('set', 'patch')
    and not exists (select from switchyard.documents d where d.path = 'users/' || names[2] || '/blockedContacts/' || caller)
    and ((names[3] = 'contacts' and names[4] = caller and old is not null)
      or (names[3] = 'contactRequests' and names[4] = caller)
      or (names[3] = 'notifications' and old is null
        and exists (select from switchyard.documents d where d.path = 'users/' || names[2] || '/contacts/' || caller)));
end $$;

-- Whether the caller may leave it like this. What is theirs they may; elsewhere the fields that they write have to be known ones of
-- the expected types: texts up to their lengths, flags and times.
create or replace function switchyard.domain_leaves(path text, old jsonb, new jsonb, caller text) returns boolean
language plpgsql immutable parallel safe set search_path = '' as $$
declare
  names  text[] := string_to_array(path, '/');
  fields jsonb := new;
  texts  jsonb := '{"name": 1000, "email": 1000, "phoneNumber": 1000}';
  flags  text[] := '{}';
  times  text[] := '{}';
begin
  if names[1] = 'checkIns' and cardinality(names) = 2 then
    return coalesce(new -> 'userID' = to_jsonb(caller), false);
  elsif names[1] <> 'users' or names[2] = caller or cardinality(names) <> 4 then
    return true;
  end if;
  case names[3]
  when 'contacts' then
    -- What contacts change of their own entry: who they are, and that they are no responder any more.
    if exists (select from jsonb_object_keys(old) k where not new ? k and not texts ? k and k <> 'isResponder') then
      return false;
    end if;
    select coalesce(jsonb_object_agg(n.key, n.value), '{}') into fields from jsonb_each(new) n
      where n.value is distinct from old -> n.key and (n.key <> 'isResponder' or n.value <> 'false');
  when 'contactRequests' then
    if new -> 'isResponder' <> 'false' then return false; end if;
    texts := texts || '{"note": 10000}';
    flags := '{isResponder,isDependent}';
    times := '{sentAt}';
  when 'notifications' then
    if new -> 'kind' = 'null' then fields := new - 'kind'; end if;
    texts := '{"title": 1000, "body": 10000, "kind": 1000}';
    flags := '{isRead,isDeleted}';
    times := '{sentAt}';
  else
    return true;
  end case;
  return not exists (select from jsonb_each(fields) f where not case
    when texts ? f.key then jsonb_typeof(f.value) = 'string' and length(f.value #>> '{}') <= (texts ->> f.key)::int
    when f.key = any (flags) then jsonb_typeof(f.value) = 'boolean'
    when f.key = any (times) then coalesce(switchyard.word(f.value) = '$ts', false)
    else false end);
end $$;
