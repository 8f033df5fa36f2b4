-- What every part stands on: the roles, the settings, who is calling, and who may call what. PostgreSQL 15 and later. Run these
-- files in their order as the role that owns the schema; running them again changes nothing.

create schema if not exists switchyard;

do $$
declare
  wanted text;
begin
  -- A Supabase project has these; a bare database gets them, without a right to log in.
  foreach wanted in array array['anon', 'authenticated', 'service_role'] loop
    if not exists (select from pg_roles where rolname = wanted) then
      begin
        execute format('create role %I nologin%s', wanted, case wanted when 'service_role' then ' bypassrls' else '' end);
      exception when duplicate_object or unique_violation then
        -- Roles belong to the whole server: an installation in another database was faster.
        null;
      end;
    end if;
  end loop;
end $$;
grant usage on schema switchyard to anon, authenticated, service_role;

-- One row. `epoch` names this database's numbering of transactions, which a restored copy does not continue. Deletions
-- and answers are kept for `keep`; listeners older than `forgotten` begin anew.
create table if not exists switchyard.settings (
  only_one  boolean primary key default true check (only_one),
  schema    int not null,
  epoch     uuid not null default gen_random_uuid(),
  keep      interval not null default interval '30 days',
  forgotten xid8 not null default '0'
);
-- Since version 2: the oldest clients that these functions still serve.
alter table switchyard.settings add column if not exists serves int not null default 1;
-- Since version 8: where the epoch is good, and by how much versions are ahead of the transactions that are counted there.
alter table switchyard.settings add column if not exists home text;
alter table switchyard.settings add column if not exists lead bigint not null default 0;
-- Which schemas of the project a commit reaches with rows of tables.
alter table switchyard.settings add column if not exists schemas text[] not null default '{public}';
-- Which parts are here, and whether callers who are not signed in may call what only a public rule opens to them. Before there
-- were parts, all were here, and all was open: an update takes nothing away.
alter table switchyard.settings add column if not exists parts text[] not null default '{documents,messages,domain,rows}';
alter table switchyard.settings alter column parts set default '{}';
alter table switchyard.settings add column if not exists anon boolean not null default true;
alter table switchyard.settings alter column anon set default false;
update switchyard.settings set parts = array_remove(parts, 'domain') where to_regproc('switchyard.domain_reads') is null;
alter table switchyard.settings enable row level security;
grant all on switchyard.settings to service_role;

-- Who is calling. Text, for not every issuer of tokens names people by UUIDs.
create or replace function switchyard.caller() returns text
language sql stable as $$
  select nullif(nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub', '')
$$;

-- Which version of these functions is here, and the oldest clients that it serves. In version 1 this was a number.
do $$ begin
  if to_regprocedure('public.switchyard_schema()') is not null
    and (select p.prorettype from pg_catalog.pg_proc p where p.oid = to_regprocedure('public.switchyard_schema()')) <> 'jsonb'::regtype then
    drop function public.switchyard_schema();
  end if;
end $$;
create or replace function public.switchyard_schema() returns jsonb
language sql stable security definer set search_path = '' as $$
  select jsonb_build_object('version', schema, 'serves', serves) from switchyard.settings
$$;

-- Who may call what. Clients call the functions in `public`; policies and functions that run with the caller's rights call the
-- others.
--   everybody   anon, authenticated and service_role
--   users       authenticated and service_role; and anon if the settings say so, as for readers and writers
--   readers     users, and anon while a collection may be read by everybody
--   writers     users, and anon while a collection may be written by everybody
--   callers     whoever may call a function of `public` that runs with the caller's rights
--   owner_only  the owner, and functions that run with the owner's rights
-- A function that is not listed is for its owner only if it has the owner's rights or is a trigger's. Otherwise it does what its caller
-- could do without it, and is for callers.
create or replace function switchyard.access() returns table (part text, name text, callers text)
language sql immutable as $$
  values
    ('common', 'public.switchyard_schema', 'everybody'),
    ('common', 'switchyard.caller', 'everybody'),
    ('common', 'switchyard.access', 'owner_only'),
    ('common', 'switchyard.rights', 'owner_only'),
    ('common', 'switchyard.missing', 'owner_only'),
    ('documents', 'public.switchyard_get', 'readers'),
    ('documents', 'public.switchyard_query', 'readers'),
    ('documents', 'public.switchyard_aggregate', 'readers'),
    ('documents', 'public.switchyard_collections', 'readers'),
    ('documents', 'public.switchyard_changes', 'readers'),
    ('documents', 'public.switchyard_commit', 'writers'),
    ('documents', 'public.switchyard_commit_many', 'writers'),
    ('documents', 'public.switchyard_commit_rows', 'writers'),
    ('documents', 'public.switchyard_outcome', 'writers'),
    ('documents', 'public.switchyard_delete_tree', 'writers'),
    ('documents', 'switchyard.standing', 'readers'),
    ('documents', 'switchyard.holder', 'readers'),
    ('documents', 'switchyard.may_listen', 'everybody'),
    ('documents', 'switchyard.answer', 'callers'),
    ('documents', 'switchyard.column_type', 'callers'),
    ('documents', 'switchyard.begin_writes', 'writers'),
    ('documents', 'switchyard.remember', 'writers'),
    ('documents', 'switchyard.is_trusted', 'owner_only'),
    ('documents', 'switchyard.home', 'owner_only'),
    ('documents', 'switchyard.forget', 'owner_only'),
    ('documents', 'switchyard.index_sql', 'owner_only'),
    ('documents', 'switchyard.create_index', 'owner_only'),
    ('domain', 'switchyard.domain_touches', 'owner_only'),
    ('domain', 'switchyard.domain_reads', 'readers'),
    ('rows', 'public.switchyard_rows', 'readers'),
    ('rows', 'public.switchyard_row_query', 'readers'),
    ('rows', 'public.switchyard_row_aggregate', 'readers'),
    ('rows', 'public.switchyard_look', 'readers'),
    ('messages', 'public.switchyard_register', 'users'),
    ('messages', 'public.switchyard_messages', 'users'),
    ('messages', 'public.switchyard_unregister', 'everybody'),
    ('messages', 'switchyard.may_hear', 'users'),
    ('messages', 'switchyard.send_message', 'owner_only'),
    -- Of version 11 before: calls may be under way that use them.
    ('documents', 'switchyard.is_reachable', 'callers'),
    ('documents', 'switchyard.missing_since', 'callers'),
    ('documents', 'switchyard.settle', 'writers'),
    ('documents', 'switchyard.recall', 'writers')
$$;

-- What each role should be able to call, and whether it can.
create or replace function switchyard.rights() returns table (function_ regprocedure, role_ name, is_wanted boolean, is_there boolean)
language plpgsql stable set search_path = '' as $$
declare
  is_open    boolean := (select s.anon from switchyard.settings s);
  is_read    boolean := is_open;
  is_written boolean := is_open;
  has_rows   boolean := to_regproc('public.switchyard_rows') is not null;
begin
  if to_regclass('switchyard.rules') is not null then
    select is_read or coalesce(bool_or(r.read = 'public'), false), is_written or coalesce(bool_or(r.write = 'public'), false)
      into is_read, is_written from switchyard.rules r;
  end if;
  return query
    select f.oid_::regprocedure, r.name, case
        when r.name = 'public' or f.callers = 'owner_only' then false
        when f.callers = 'everybody' or r.name <> 'anon' then true
        when f.callers = 'readers' then is_read
        when f.callers = 'writers' then is_written
        when f.callers = 'users' then is_open
        else is_written or (is_read and has_rows) end, has_function_privilege(r.name, f.oid_, 'execute')
    from (
      select p.oid as oid_, coalesce(a.callers, case when p.prosecdef or p.prorettype = 'trigger'::regtype then 'owner_only' end) as callers
        from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
        left join switchyard.access() a on a.name = n.nspname || '.' || p.proname
        where a.name is not null or (n.nspname = 'switchyard' and pg_has_role(p.proowner, 'usage'))) f,
      (values ('public'::name), ('anon'), ('authenticated'), ('service_role')) r (name);
end $$;

-- Grants and revokes what is to be granted and revoked, when the rules or the settings change and at the end of an installation.
create or replace function switchyard.set_rights() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  each_ record;
begin
  perform pg_advisory_xact_lock(hashtextextended('switchyard/rights', 0));
  for each_ in select * from switchyard.rights() x where x.is_wanted <> x.is_there order by x.role_ <> 'public' loop
    -- Whoever may call it as one of the public loses that first, and then gets a right of their own.
    if each_.role_ <> 'public' and each_.is_wanted = has_function_privilege(each_.role_, each_.function_, 'execute') then continue; end if;
    execute format(case when each_.is_wanted then 'grant execute on function %s to %s' else 'revoke all on function %s from %s' end,
                   each_.function_, each_.role_);
  end loop;
  for each_ in select * from switchyard.rights() x where x.is_wanted and not x.is_there loop
    execute format('grant execute on function %s to %s', each_.function_, each_.role_);
  end loop;
  if to_regclass('switchyard.documents') is not null then
    if (select bool_or(x.is_wanted) from switchyard.rights() x
        where x.role_ = 'anon' and x.function_::oid = to_regproc('switchyard.standing')::oid) then
      grant select on switchyard.documents to anon;
    else
      revoke select on switchyard.documents from anon;
    end if;
  end if;
  return null;
end $$;
create or replace trigger settings_rights after update of parts, anon on switchyard.settings
  for each statement execute function switchyard.set_rights();
