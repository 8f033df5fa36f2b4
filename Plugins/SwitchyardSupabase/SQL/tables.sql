-- Tables, and who may see what is in them.
--
-- Clients call the functions `switchyard_…` in `public` and nothing else. Those ask the rules in `switchyard.rules`
-- themselves, so that conditions on fields can use indexes; the policies on the tables say the same to everybody else.

-- `version` is the writing transaction, counted with the lead of switchyard.settings: what a listener has not seen is what
-- transactions wrote that had not ended when it looked last. Numbers from a sequence could not say that; they become
-- visible out of their order.
create table if not exists switchyard.documents (
  path          text collate "C" primary key check (path ~ '^[^/]+/[^/]+(/[^/]+/[^/]+)*$' and octet_length(path) <= 900),
  place         bytea not null generated always as (switchyard.place(path)) stored,
  collection    text collate "C" not null generated always as (regexp_replace(path, '/[^/]+$', '')) stored,
  collection_id text collate "C" not null generated always as (substring(path from '([^/]+)/[^/]+$')) stored,
  data          jsonb not null check (jsonb_typeof(data) = 'object'),
  owner         text,
  version       xid8 not null default pg_current_xact_id(),
  created_at    timestamptz not null,
  updated_at    timestamptz not null
);
create index if not exists documents_collection on switchyard.documents (collection, place);
create index if not exists documents_group on switchyard.documents (collection_id, place);
create index if not exists documents_place on switchyard.documents (place);
create index if not exists documents_changes on switchyard.documents (collection_id, version);
create index if not exists documents_values on switchyard.documents using gin (data jsonb_path_ops);

-- Where a document was, so that listeners who come back learn that it is gone.
create table if not exists switchyard.deletions (
  path          text collate "C" primary key,
  place         bytea not null,
  collection    text collate "C" not null,
  collection_id text collate "C" not null,
  owner         text,
  version       xid8 not null default pg_current_xact_id(),
  deleted_at    timestamptz not null
);
create index if not exists deletions_changes on switchyard.deletions (collection_id, version);
-- Since version 8: by these, what is to be forgotten is found without looking at the rest.
create index if not exists deletions_age on switchyard.deletions (deleted_at);

-- Batches that took effect, by their names and whose they were: one that is sent again is answered, not carried out.
create table if not exists switchyard.batches (
  id      text not null,
  owner   text not null,
  answer  jsonb not null,
  kept_at timestamptz not null default clock_timestamp(),
  primary key (id, owner)
);
create index if not exists batches_age on switchyard.batches (kept_at);

-- Who may read and write the documents of a collection, by the collection's last segment. Without a row: `owner`; for the
-- collection `users` at the root, and for what lies below its documents, `named`.
create table if not exists switchyard.rules (
  collection_id text primary key,
  read  text not null default 'owner',
  write text not null default 'owner'
);
-- Since version 8: `named`; since version 9: `domain`.
alter table switchyard.rules
  drop constraint if exists rules_read_check, drop constraint if exists rules_write_check,
  add constraint rules_read_check check (read in ('none', 'named', 'owner', 'domain', 'authenticated', 'public')),
  add constraint rules_write_check check (write in ('none', 'named', 'owner', 'domain', 'authenticated', 'public'));

-- Which history of which database this is: a copy that is restored from a dump or from files, or that takes over from
-- another server, is elsewhere.
create or replace function switchyard.home() returns text
language plpgsql stable set search_path = '' as $$
declare
  server text;
  line   text;
begin
  if has_function_privilege('pg_catalog.pg_control_system()', 'execute') then
    -- Before PostgreSQL 15.5, 14.10 and the like it reads a file that may be written at this moment, and then fails.
    for attempt in 1 .. 10 loop
      begin
        select c.system_identifier into strict server from pg_catalog.pg_control_system() c;
        exit;
      exception when internal_error then
        if attempt = 10 then raise; end if;
        perform pg_sleep(0.005);
      end;
    end loop;
  end if;
  if not pg_is_in_recovery() then
    line := substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8);
  elsif has_function_privilege('pg_catalog.pg_control_checkpoint()', 'execute') then
    select lpad(upper(to_hex(c.timeline_id)), 8, '0') into line from pg_catalog.pg_control_checkpoint() c;
  end if;
  return concat_ws('/', coalesce(server, '-'), coalesce(line, '-'),
                   (select d.oid from pg_catalog.pg_database d where d.datname = current_database()),
                   'switchyard.settings'::regclass::oid);
end $$;

-- Begins a new epoch: whoever has listened before begins anew. From now on versions are ahead of all that are here, however
-- far the transactions of this server have been counted. For administrators, after a copy of the disks was brought back.
create or replace function switchyard.begin_epoch() returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  newest bigint;
begin
  -- From one kind of collection to the next: the newest of each is at the end of its part of the index.
  with recursive kinds as (
    (select d.collection_id, d.version from switchyard.documents d order by d.collection_id desc, d.version desc limit 1)
    union all
    select n.collection_id, n.version from kinds k, lateral (
      select d.collection_id, d.version from switchyard.documents d where d.collection_id < k.collection_id
      order by d.collection_id desc, d.version desc limit 1) n
  ), gone as (
    (select d.collection_id, d.version from switchyard.deletions d order by d.collection_id desc, d.version desc limit 1)
    union all
    select n.collection_id, n.version from gone k, lateral (
      select d.collection_id, d.version from switchyard.deletions d where d.collection_id < k.collection_id
      order by d.collection_id desc, d.version desc limit 1) n
  ) select max(a.version::text::bigint) into newest
      from (select k.version from kinds k union all select g.version from gone g) a;
  update switchyard.settings s
    set epoch = gen_random_uuid(), home = switchyard.home(), forgotten = '0',
        lead = greatest(s.lead, coalesce(newest, 0) + 1 - pg_current_xact_id()::text::bigint);
end $$;

-- Before anything is written. Sees to it, once in a transaction and before it takes any other lock, that the epoch is good here.
-- Then waits until no other transaction commits to these paths, and keeps others waiting until this one ends: also for paths
-- without a row, and always in the same order, so no two wait for each other. Paths share 256 locks, since a server has room for a few
-- thousand in all.
create or replace function switchyard.begin_writes(paths text[]) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  lock_key int;
begin
  if current_setting('switchyard.settled', true) is distinct from 'yes' then
    -- Where the epoch is good, no call waits. A call that has waited for another to begin one finds it good.
    perform from switchyard.settings s where s.home is distinct from switchyard.home() for update;
    if found then perform switchyard.begin_epoch(); end if;
    perform set_config('switchyard.settled', 'yes', true);
  end if;
  if paths = '{}' then return; end if;
  for lock_key in select distinct hashtextextended(p, 0) & 255 from unnest(paths) p order by 1 loop
    perform pg_advisory_xact_lock(hashtext('switchyard'), lock_key);
  end loop;
end $$;

-- Whether the caller stands above all rules, as a project's own server does. Every call asks this and what follows: in
-- PL/pgSQL, since plans of functions in SQL are forgotten with each call.
create or replace function switchyard.is_trusted() returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return (select r.rolbypassrls or r.rolsuper from pg_catalog.pg_roles r
          where r.rolname = coalesce(nullif(current_setting('role', true), 'none'), session_user::text));
end $$;

-- The rules for a deed, 'read' or 'write', as the caller meets them. Collections whose documents are open to the caller
-- whosever they are; those that are closed even to their owners; those with any row; those with the row `named`; those
-- at the root below whose documents collections without a row are `named`, too; and those with the row `domain`, which are
-- among the closed ones, for they have ways of their own.
drop policy if exists documents_read on switchyard.documents;
do $$ begin
  -- Before version 9 it said less. A function that is replaced as it is does not end the calls that are under way.
  if (select s.schema from switchyard.settings s) < 9 then drop function if exists switchyard.standing(text); end if;
end $$;
create or replace function switchyard.standing(
  deed text, out opened text[], out closed text[], out ruled text[], out named text[], out roots text[], out domain text[])
language plpgsql stable security definer set search_path = '' as $$
declare
  me text := switchyard.caller();
begin
  -- The roots are the same for both deeds: whoever may write there sees it, and whoever made it once does not.
  select coalesce(array_agg(r.id) filter (where r.rule = 'public' or (r.rule = 'authenticated' and me is not null)), '{}'),
         coalesce(array_agg(r.id) filter (where r.rule in ('none', 'domain')), '{}'), coalesce(array_agg(r.id), '{}'),
         coalesce(array_agg(r.id) filter (where r.rule = 'named'), '{}'),
         coalesce(array_agg(r.id) filter (where r.rule = 'domain'), '{}'),
         coalesce(array_agg(r.id) filter (where 'named' in (r.read, r.write)
                  or (r.id = 'users' and 'domain' in (r.read, r.write))), '{}')
    into opened, closed, ruled, named, domain, roots
    from (select x.collection_id as id, case deed when 'read' then x.read else x.write end as rule, x.read, x.write
            from switchyard.rules x) r;
  if 'users' <> all (ruled) then roots := roots || 'users'::text; end if;
end $$;

-- Whose a document is by its rule: whom the path names, or whoever made it. Statements take it in.
create or replace function switchyard.holder(
  path text, collection text, collection_id text, owner text, ruled text[], named text[], roots text[]) returns text
language sql immutable parallel safe as $$
  select case when collection_id = any (named) then substr(path, length(collection) + 2)
              when collection_id = any (ruled) then owner
              when split_part(path, '/', 1) = any (roots) then split_part(path, '/', 2)
              else owner end
$$;

-- The caller's rule for rows of `d`, with constants in it, so that it spoils no plan. Of what is gone there are no data.
drop function if exists switchyard.readable(), switchyard.allowed(text);
create or replace function switchyard.allowed(deed text, is_gone boolean default false) returns text
language plpgsql stable set search_path = '' as $$
declare
  my record;
begin
  if switchyard.is_trusted() then return 'true'; end if;
  select * into my from switchyard.standing(deed);
  return format('(d.collection_id = any (%L::text[]) or (d.collection_id <> all (%L::text[])
      and switchyard.holder(d.path, d.collection, d.collection_id, d.owner, %L::text[], %L::text[], %L::text[]) = %L)',
    my.opened, my.closed, my.ruled, my.named, my.roots, switchyard.caller())
    || case when my.domain = '{}' then ')' else
      format(' or (d.collection_id = any (%L::text[]) and switchyard.%s))', my.domain, case deed
        when 'read' then format('domain_reads(d.path, %s, d.owner, %L)', case when is_gone then 'null' else 'd.data' end,
                                switchyard.caller())
        else format('domain_touches(''delete'', d.path, d.data, d.owner, %L)', switchyard.caller()) end) end;
end $$;

alter table switchyard.documents enable row level security;
alter table switchyard.deletions enable row level security;
alter table switchyard.batches enable row level security;
alter table switchyard.rules enable row level security;
grant select on switchyard.documents to authenticated;
grant all on switchyard.documents, switchyard.deletions, switchyard.batches, switchyard.rules to service_role;
create or replace trigger rules_rights after insert or update or delete on switchyard.rules
  for each statement execute function switchyard.set_rights();
create policy documents_read on switchyard.documents for select using (
  collection_id = any ((select s.opened from switchyard.standing('read') s)::text[])
  or (collection_id <> all ((select s.closed from switchyard.standing('read') s)::text[])
      and switchyard.holder(path, collection, collection_id, owner,
            (select s.ruled from switchyard.standing('read') s)::text[], (select s.named from switchyard.standing('read') s)::text[],
            (select s.roots from switchyard.standing('read') s)::text[]) = (select switchyard.caller())));
-- What versions up to 7 had in their place.
drop function if exists switchyard.open_to_caller(text), switchyard.closed(text), switchyard.may_write(text, text);

-- Since version 8 `users` is `named`. Who updates learns whom that shuts out.
do $$
declare
  count_ bigint;
begin
  if (select s.schema < 8 from switchyard.settings s) and not exists (
      select from switchyard.rules r where r.collection_id = 'users') then
    select count(*) into count_ from switchyard.documents d
      where d.place >= switchyard.place('users') and d.place < switchyard.place('users') || '\xff'::bytea
        and d.owner <> split_part(d.path, '/', 2)
        and not exists (select from switchyard.rules r where r.collection_id = d.collection_id);
    if count_ > 0 then
      raise warning '% documents below users/… belong to somebody else than the path names; they are that person''s from now on', count_
        using hint = 'Where names below users/ are not IDs of accounts: insert into switchyard.rules values (''users'', ''owner'', ''owner'')';
    end if;
  end if;
end $$;
